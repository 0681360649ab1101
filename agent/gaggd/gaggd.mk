# SPDX-License-Identifier: GPL-2.0

AGENT_PROGRAMS += build/gaggd

build/gaggd: $(patsubst %.c,build/%.o,$(wildcard agent/gaggd/*.c)) \
	build/agent/lib/message.o build/agent/archive/archive.a build/agent/conf/conf.a build/agent/nl/nl.a
build/gaggd: AGENT_LIBS += $(CONF_LIBS) $(NL_LIBS) -luring -lsystemd
