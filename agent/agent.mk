# SPDX-License-Identifier: GPL-2.0
#
# The userspace half, included by the top Makefile; every path is relative to
# the top. A folder's own fragment (agent/*/*.mk) says which objects make
# which program:
#
#	build/gaggd: build/agent/gaggd/main.o build/agent/gaggd/loop.o
#	build/gaggd: AGENT_LIBS += -luring
#	AGENT_TARGETS += build/gaggd
#
# and, for link steps of its own, writes a recipe with $(AGENT_LD). Objects
# mirror the sources: build/agent/x/y.o comes from agent/x/y.c, with
# AGENT_CFLAGS, which a fragment extends for its folder by a pattern:
#
#	build/agent/lib/%.o: AGENT_CFLAGS += -fPIC
#
# Programs are named in AGENT_PROGRAMS to get the common link recipe.

CC		?= cc
AGENT_CFLAGS	:= -std=gnu11 -Wall -Wextra -Werror -O2 -g -ffp-contract=off \
		   -Iuapi $(CFLAGS)
AGENT_STAMP	:= $(CC) $(AGENT_CFLAGS)
AGENT_LDFLAGS	:= $(LDFLAGS)
AGENT_LIBS	 =
AGENT_TARGETS	:=
AGENT_PROGRAMS	:=
AGENT_LD	 = $(CC) $(AGENT_CFLAGS) $(AGENT_LDFLAGS)

include $(sort $(wildcard agent/*/*.mk))

AGENT_TARGETS	+= $(AGENT_PROGRAMS)

# A changed flag is a changed input: the stamp differs, so objects are rebuilt.
# Not AGENT_CFLAGS itself: the stamp would inherit a folder's extension from
# whichever object asks first.
build/agent/flags: agent-flags-check
	@mkdir -p $(@D)
	@echo '$(AGENT_STAMP)' | cmp -s - $@ || echo '$(AGENT_STAMP)' > $@

build/agent/%.o: agent/%.c build/agent/flags
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(AGENT_PROGRAMS):
	@mkdir -p $(@D)
	$(AGENT_LD) -o $@ $(filter %.o %.a,$^) $(AGENT_LIBS)

# -MMD writes x.d beside x.o; a header that is gone is no error (-MP).
-include $(shell find build/agent -name '*.d' 2>/dev/null)

.PHONY: agent agent-flags-check
agent: $(AGENT_TARGETS)
agent-flags-check:
