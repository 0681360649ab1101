# SPDX-License-Identifier: GPL-2.0
#
# The netlink layer: programs take build/agent/nl/nl.a and add $(NL_LIBS) to
# their AGENT_LIBS.

NL_OBJS := $(addprefix build/agent/nl/,codec.o events.o extack.o names.o nl.o request.o twin.o) \
	build/agent/lib/message.o build/agent/lib/sync_name.o build/agent/core/group/param.o
NL_LIBS  = $(shell pkg-config --libs libnl-genl-3.0)

# nl.h has the parameters of a group, which are described once, in the core
$(foreach d,archive bench conf gaggctl gaggd nl,build/agent/$(d)/%.o): AGENT_CFLAGS += -Ikmod/core

build/agent/nl/%.o: AGENT_CFLAGS += $(shell pkg-config --cflags libnl-genl-3.0)

build/agent/nl/nl.a: $(NL_OBJS)
	@rm -f $@
	$(AR) rcs $@ $^
