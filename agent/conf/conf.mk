# SPDX-License-Identifier: GPL-2.0
#
# The configuration file and reconcile(), for gaggd and gaggctl: link
# build/agent/conf/conf.a before nl.a, and $(CONF_LIBS).

CONF_LIBS := -lconfuse

build/agent/conf/conf.a: $(patsubst %.c,build/%.o,$(wildcard agent/conf/*.c))
	@rm -f $@
	$(AR) rcs $@ $^
