# SPDX-License-Identifier: GPL-2.0
#
# The tests that are programs, included by the top Makefile. A test is one file,
# selftests/unit/test_X.c or selftests/model/model_X.c, and says in one of its
# first lines what it is linked with:
#
#	/* links: kmod/core/path.c kmod/core/wire.c; libs: libnl-genl-3.0 -lm */
#
# sources, by their path from the top (a pattern is fine), and pkg-config names, -lfoo
# or -DFOO. "core" is a shard and all that it needs but the path to other hosts, which
# the models replace; "sync" are the sync modes and their texts. They run in the top
# directory.

UNIT_TESTS	:= $(patsubst %.c,build/%,$(wildcard selftests/unit/test_*.c))
MODEL_TESTS	:= $(patsubst %.c,build/%,$(wildcard selftests/model/model_*.c))

TEST_CFLAGS	:= -std=gnu11 -Wall -Wextra -Werror -g -ffp-contract=off \
		   -Iuapi -Ikmod/core -Iagent/lib -Iagent -I. -Ikmod \
		   $(shell pkg-config --cflags json-c libconfuse liburing libsystemd \
			libnl-3.0 libnl-genl-3.0 2>/dev/null)
unit_cc		:= $(CC)
unit_cflags	:= -O1 -fno-omit-frame-pointer -fsanitize=address,undefined \
		   -fno-sanitize-recover
# a third of what starting a program costs is finding these libraries' symbols
unit_ldflags	:= -static-libasan -static-libubsan
model_cc	:= $(CC)
model_cflags	:= -O2

TEST_SYNC	:= kmod/core/sync/*.c agent/conf/sync_text.c agent/lib/sync_name.c
TEST_CORE	:= $(addprefix kmod/core/,shard.c out.c chan.c geom.c reduce.c wire.c ring/*.c store/*.c) \
		   $(TEST_SYNC)

# What the comments say, all of them read at once: for test $1 what it links, as
# links:kmod/core/path.c, and its libraries, as libs:-lm.
TEST_COMMENTS	:= $(shell awk 'FNR <= 5 && sub(/^\/\* *links:/, "") { \
			gsub(/ *\*\/.*|;/, ""); kind = "links:"; \
			for (i = 1; i <= NF; i++) \
				if ($$i == "libs:") \
					kind = $$i; \
				else \
					print FILENAME ":" kind $$i \
		   }' $(wildcard selftests/unit/test_*.c selftests/model/model_*.c \
				selftests/fuzz/fuzz_*.c))
test-says	= $(patsubst $1:$2:%,%,$(filter $1:$2:%,$(TEST_COMMENTS)))
test-sources	= $(patsubst sync,$(TEST_SYNC),$(patsubst core,$(TEST_CORE), \
		    $(call test-says,$1,links)))
test-links	= $(foreach s,$(test-sources),$(or $(wildcard $(s)),$(s)))
test-libs	= $(call test-says,$1,libs)
test-pkgs	= $(filter-out -%,$(call test-libs,$1))
test-ldlibs	= $(if $(test-pkgs),$(shell pkg-config --libs $(test-pkgs))) \
		  $(filter-out -D%,$(filter -%,$(call test-libs,$1)))

# A source is compiled once for all tests of a suite that define the same: for
# selftests/model/model_x.c with "-DA=1 -DB", agent/y.c becomes
# build/selftests/obj/model+A.1+B/agent/y.o.
space		:= $(subst ,, )
test-variant	= $(subst =,.,$(subst $(space),,$(notdir $(patsubst %/,%,$(dir $1))) \
		    $(patsubst -D%,+%,$(filter -D%,$(call test-libs,$1)))))
test-objs	= $(patsubst %.c,build/selftests/obj/$(call test-variant,$1)/%.o, \
		    $1 $(call test-links,$1))

# of "model+A.1+B/agent/y": agent/y; model; -DA=1 -DB
obj-variant	= $(subst +, ,$(firstword $(subst /, ,$1)))
obj-path	= $(patsubst $(firstword $(subst /, ,$1))/%,%,$1)
obj-suite	= $(firstword $(obj-variant))
obj-defs	= $(patsubst %,-D%,$(subst .,=,$(wordlist 2,99,$(obj-variant))))

.SECONDEXPANSION:
build/selftests/obj/%.o: $$(call obj-path,$$*).c selftests/selftests.mk
	@mkdir -p $(@D)
	$($(call obj-suite,$*)_cc) $(TEST_CFLAGS) $($(call obj-suite,$*)_cflags) \
		$(call obj-defs,$*) -MMD -MP -c -o $@ $<

# vector registers belong to the assembly, as in the kernel
build/selftests/obj/unit/kmod/simd_%.o: TEST_CFLAGS += \
	$(if $(findstring x86_64,$(shell $(CC) -dumpmachine 2>/dev/null)),-mgeneral-regs-only)

$(UNIT_TESTS) $(MODEL_TESTS): build/%: $$(call test-objs,$$*.c) selftests/selftests.mk
	@mkdir -p $(@D)
	$(CC) $($(notdir $(patsubst %/,%,$(@D)))_cflags) $($(notdir $(patsubst %/,%,$(@D)))_ldflags) \
		-o $@ $(filter %.o,$^) -lcmocka \
		$(call test-ldlibs,$*.c) -lm

# what selftests/model/mutate builds TEST from
.PHONY: test-links test-defs
test-links:
	@echo $(sort $(call test-links,$(TEST)))
test-defs:
	@echo $(filter -D%,$(call test-libs,$(TEST)))

-include $(shell find build/selftests/obj -name '*.d' 2>/dev/null)

.PHONY: unit-tests
unit-tests: $(UNIT_TESTS) build/gaggctl
	@:
selftests: $(UNIT_TESTS) $(MODEL_TESTS)

include selftests/vm/vm.mk
include selftests/fuzz/fuzz.mk
include selftests/bench/bench.mk

# The core is compiled alone, to see that it needs nothing.
.PHONY: check-purity
check-purity:
	@scripts/check-purity
