# SPDX-License-Identifier: LGPL-2.1-only OR MIT
#
# libgagg: build/libgagg.so.0.1 (soname libgagg.so.0), build/libgagg.a,
# build/gagg.pc.
#
#   make libgagg            builds the three

LIB_VERSION	:= 0.1
LIB_SONAME	:= libgagg.so.0
LIB_OBJS	:= $(patsubst %.c,build/%.o,$(wildcard agent/lib/*.c))
LIB_TARGETS	:= build/libgagg.so.$(LIB_VERSION) build/libgagg.a build/gagg.pc

AGENT_TARGETS	+= $(LIB_TARGETS)

build/agent/lib/%.o: AGENT_CFLAGS += -fPIC -Iagent/lib
# loops for the compiler to turn into vectors: vector.h
build/agent/lib/carry.o build/agent/lib/narrow.o: AGENT_CFLAGS += -O3

# The links let programs of this tree be linked with it and run from build/.
build/libgagg.so.$(LIB_VERSION): $(LIB_OBJS) agent/lib/gagg.map
	$(AGENT_LD) -shared -Wl,-soname,$(LIB_SONAME) -Wl,--no-undefined \
		-Wl,--version-script=agent/lib/gagg.map -o $@ $(LIB_OBJS) -pthread
	ln -sf $(@F) build/$(LIB_SONAME)
	ln -sf $(LIB_SONAME) build/libgagg.so

# One object in which only the interface is global: names of the inside cannot
# clash with a program's.
build/libgagg.a: $(LIB_OBJS)
	$(LD) -r -o build/agent/lib/libgagg.whole $(LIB_OBJS)
	objcopy --wildcard --keep-global-symbol='gagg_*' \
		build/agent/lib/libgagg.whole build/agent/lib/libgagg.o
	@rm -f $@
	$(AR) rcs $@ build/agent/lib/libgagg.o

# prefix and libdir are inputs that are no files: written anew each time they differ
build/gagg.pc: agent/lib/gagg.pc.in agent-flags-check
	@mkdir -p $(@D)
	@sed 's|@prefix@|$(PREFIX)|; s|@libdir@|$(LIBDIR)|; s|@version@|$(LIB_VERSION)|' $< >$@.new.$$$$; \
		if cmp -s $@.new.$$$$ $@; then rm $@.new.$$$$; else mv $@.new.$$$$ $@; fi

# libgagg-code: without what depends on PREFIX
.PHONY: libgagg libgagg-code
libgagg-code: build/libgagg.so.$(LIB_VERSION) build/libgagg.a
libgagg: $(LIB_TARGETS)
