# SPDX-License-Identifier: GPL-2.0
#
# The netlink layer: programs take build/agent/nl/nl.a and add $(NL_LIBS) to
# their AGENT_LIBS.

NL_OBJS := $(addprefix build/agent/nl/,codec.o events.o extack.o names.o nl.o request.o twin.o) \
	build/agent/lib/message.o
NL_LIBS  = $(shell pkg-config --libs libnl-genl-3.0)

build/agent/nl/%.o: AGENT_CFLAGS += $(shell pkg-config --cflags libnl-genl-3.0)

build/agent/nl/nl.a: $(NL_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^
