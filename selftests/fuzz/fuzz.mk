# SPDX-License-Identifier: GPL-2.0
#
# The fuzz targets, included by selftests.mk. A target is one file,
# selftests/fuzz/fuzz_X.c, which says what it is linked with as a unit test does,
# and its corpus, selftests/fuzz/corpus/X. They need clang.
#
#	make fuzz SECONDS=60		all targets, in that time
#	make fuzz-build			only build them, build/fuzz/X

FUZZ_TESTS	:= $(patsubst selftests/fuzz/fuzz_%.c,build/fuzz/%, \
		     $(wildcard selftests/fuzz/fuzz_*.c))
FUZZ_CC		?= clang
SECONDS		?= 60

# Coverage is of what is tested, not of the test. What the core compares are
# numbers of its own, not words that an input would have to hold.
FUZZ_SANITIZE	:= -fno-omit-frame-pointer -fsanitize=address,undefined \
		   -fno-sanitize-recover=undefined
fuzz-coverage	= $(if $(filter selftests/%,$1),,-fsanitize=fuzzer-no-link \
		    $(if $(filter kmod/core/%,$1),-fno-sanitize-coverage=trace-cmp))
fuzz_cc		:= $(FUZZ_CC)
fuzz_cflags	= -Iselftests/fuzz -O1 $(FUZZ_SANITIZE) $(call fuzz-coverage,$<)

$(FUZZ_TESTS): build/fuzz/%: $$(call test-objs,selftests/fuzz/fuzz_$$*.c) \
		selftests/fuzz/fuzz.mk
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_SANITIZE) -fsanitize=fuzzer -o $@ $(filter %.o,$^) \
		$(call test-ldlibs,selftests/fuzz/fuzz_$*.c)

# what sessions.sh runs against whole twins
build/fuzz/sessions: selftests/fuzz/sessions.c selftests/vm/twinmsg.c agent/lib/broker.c agent/lib/call.c agent/lib/error.c \
		agent/lib/message.c agent/lib/sync_name.c $(wildcard selftests/vm/twinmsg.h agent/lib/*.h uapi/linux/*.h)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -Iselftests/vm -O1 -o $@ $(filter %.c,$^)

.PHONY: fuzz fuzz-build
fuzz-build: $(FUZZ_TESTS)

fuzz:
	@selftests/fuzz/targets.sh $(SECONDS)
