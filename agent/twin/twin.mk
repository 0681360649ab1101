# SPDX-License-Identifier: GPL-2.0
#
# gagg-twin: the module's core in userspace. The core's loops over lanes are
# built twice, the second time for AVX2 under names of their own; the rest of
# the program runs on any processor.

TWIN_CORE	:= $(patsubst kmod/core/%.c,build/agent/twin/core/%.o, \
			$(wildcard kmod/core/*.c kmod/core/*/*.c))
TWIN_AVX2	:= $(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)), \
			build/agent/twin/core/reduce_avx2.o)
TWIN_RENAMED	:= gagg_reduce_chunk gagg_reduce_fits gagg_narrow_chunk gagg_narrow_most \
		   gagg_narrow_shift gagg_narrow_lanes gagg_loops

AGENT_PROGRAMS += build/gagg-twin

build/agent/twin/%.o: AGENT_CFLAGS += -O3 -Ikmod -Ikmod/core -Iagent/lib

build/agent/twin/core/%.o: kmod/core/%.c build/agent/flags
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

build/agent/twin/core/%_avx2.o: kmod/core/%.c build/agent/flags
	@mkdir -p $(@D)
	$(CC) $(AGENT_CFLAGS) -mavx2 $(foreach f,$(TWIN_RENAMED),-D$(f)=$(f)_avx2) \
		-MMD -MP -c -o $@ $<

build/gagg-twin: $(patsubst %.c,build/%.o,$(wildcard agent/twin/*.c)) \
	$(TWIN_CORE) $(TWIN_AVX2) \
	$(addprefix build/agent/gaggd/,broker.o refuse.o request.o limits.o log.o loop.o options.o outlet.o) \
	build/agent/lib/message.o build/agent/conf/conf.a build/agent/nl/nl.a
build/gagg-twin: AGENT_LIBS += $(CONF_LIBS) $(NL_LIBS) -luring -lsystemd -pthread
