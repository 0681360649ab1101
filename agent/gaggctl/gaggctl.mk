# SPDX-License-Identifier: GPL-2.0

AGENT_PROGRAMS += build/gaggctl

build/gaggctl: $(patsubst %.c,build/%.o,$(wildcard agent/gaggctl/*.c)) \
	build/agent/archive/archive.a build/agent/conf/conf.a build/agent/nl/nl.a
build/gaggctl: AGENT_LIBS += $(CONF_LIBS) $(NL_LIBS) -ljson-c
