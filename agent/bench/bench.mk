# SPDX-License-Identifier: GPL-2.0

AGENT_PROGRAMS += build/gagg-bench

# What measures and checks; the drivers of other systems link it, too.
BENCH_OBJS := $(addprefix build/agent/bench/,args.o data.o op.o overlap.o report.o run.o \
		stat.o usage.o)

# With the archive, so that it runs wherever build/ is.
build/gagg-bench: $(addprefix build/agent/bench/,main.o gagg.o local.o) $(BENCH_OBJS) \
	build/libgagg.a build/agent/nl/nl.a
build/gagg-bench: AGENT_LIBS += $(NL_LIBS) -lm -pthread
build/agent/bench/%.o: AGENT_CFLAGS += -Iagent/lib
# filling and checking is what takes the time
build/agent/bench/data.o: AGENT_CFLAGS += -O3
