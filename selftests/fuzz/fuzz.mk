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
FUZZ_CFLAGS	:= $(TEST_CFLAGS) -Iselftests/fuzz -O1 -fno-omit-frame-pointer \
		   -fsanitize=address,undefined -fno-sanitize-recover=undefined
SECONDS		?= 60

# "agent/x/y.c" becomes build/fuzz/obj/TARGET/agent_x_y.o
fuzz-objs	= $(foreach s,$1,build/fuzz/obj/$(@F)/$(subst /,_,$(s:.c=.o)))
# Coverage is of what is tested, not of the test. What the core compares are
# numbers of its own, not words that an input would have to hold.
fuzz-coverage	= $(if $(filter selftests/%,$1),,-fsanitize=fuzzer-no-link \
		    $(if $(filter kmod/core/%,$1),-fno-sanitize-coverage=trace-cmp))

$(FUZZ_TESTS): build/fuzz/%: selftests/fuzz/fuzz_%.c \
		$$(call test-links,selftests/fuzz/fuzz_$$*.c) selftests/fuzz/fuzz.mk
	@mkdir -p $(@D) build/fuzz/obj/$(@F)
	$(eval fuzz_sources := $< $(call test-links,$<))
	$(eval fuzz_cflags := $(FUZZ_CFLAGS) $(call test-defs,$<) \
		$(call test-pkg-config,$<,--cflags))
	@$(foreach s,$(fuzz_sources),$(FUZZ_CC) $(fuzz_cflags) $(call fuzz-coverage,$(s)) \
		-MMD -MP -MT $@ -c -o $(call fuzz-objs,$(s)) $(s) &&) :
	$(FUZZ_CC) $(fuzz_cflags) -fsanitize=fuzzer -o $@ $(call fuzz-objs,$(fuzz_sources)) \
		$(call test-pkg-config,$<,--libs) \
		$(filter-out -D%,$(filter -%,$(call test-libs,$<)))

-include $(wildcard build/fuzz/obj/*/*.d)

.PHONY: fuzz fuzz-build
fuzz-build: $(FUZZ_TESTS)

fuzz:
	@selftests/fuzz/targets.sh $(SECONDS)
