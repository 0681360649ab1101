# SPDX-License-Identifier: GPL-2.0
#
# Where gaggd keeps checkpoints, for gaggd and gaggctl: link
# build/agent/archive/archive.a.

build/agent/archive/archive.a: $(patsubst %.c,build/%.o,$(wildcard agent/archive/*.c)) \
	build/agent/lib/checkpoint_file.o
	@rm -f $@
	$(AR) rcs $@ $^
