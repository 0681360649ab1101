# SPDX-License-Identifier: GPL-2.0
#
# The configuration file and reconcile(), for gaggd and gaggctl: link
# build/agent/conf/conf.a before nl.a, and $(CONF_LIBS).

CONF_LIBS := -lconfuse

# What a sync mode may be is described once, in the core, and what does not fit in a group.
CONF_CORE := $(patsubst kmod/core/%.c,build/agent/core/%.o,$(wildcard kmod/core/sync/*.c) \
		kmod/core/geom.c kmod/core/group/roster.c kmod/core/group/fit.c)

build/agent/core/%.o: AGENT_CFLAGS += -Ikmod/core
build/agent/core/%.o: kmod/core/%.c build/agent/flags
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

build/agent/conf/conf.a: $(patsubst %.c,build/%.o,$(wildcard agent/conf/*.c)) $(CONF_CORE)
	@rm -f $@
	$(AR) rcs $@ $^
