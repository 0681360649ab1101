# SPDX-License-Identifier: GPL-2.0

AGENT_PROGRAMS += build/digits

# With the archive, so that it runs wherever build/ is.
build/digits: $(addprefix build/agent/examples/,curve.o delay.o digits.o learn.o net.o options.o samples.o) build/libgagg.a
build/digits: AGENT_LIBS += -lz -lm -pthread
build/agent/examples/%.o: AGENT_CFLAGS += -Iagent/lib
