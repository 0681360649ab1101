# SPDX-License-Identifier: GPL-2.0

AGENT_PROGRAMS += build/gaggctl

build/gaggctl: $(patsubst %.c,build/%.o,$(wildcard agent/gaggctl/*.c)) \
	build/agent/archive/archive.a build/agent/conf/conf.a build/agent/nl/nl.a
build/gaggctl: AGENT_LIBS += $(CONF_LIBS) $(NL_LIBS) -ljson-c

PREFIX ?= /usr/local
install: install-gaggctl

.PHONY: install-gaggctl
install-gaggctl: build/gaggctl
	install -D -m 755 build/gaggctl $(DESTDIR)$(PREFIX)/sbin/gaggctl
	install -D -m 644 agent/gaggctl/gaggctl.8 \
		$(DESTDIR)$(PREFIX)/share/man/man8/gaggctl.8
	install -D -m 644 agent/gaggctl/gaggctl.bash \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/gaggctl
