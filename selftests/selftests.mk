# SPDX-License-Identifier: GPL-2.0
#
# The tests that are programs, included by the top Makefile. A test is one file,
# selftests/unit/test_X.c or selftests/model/model_X.c, and says in one of its
# first lines what it is linked with:
#
#	/* links: kmod/core/path.c kmod/core/wire.c; libs: libnl-genl-3.0 -lm */
#
# sources, by their path from the top (a pattern is fine), and pkg-config names, -lfoo or -DFOO. Each
# program compiles its own copy of them. They run in the top directory.

UNIT_TESTS	:= $(patsubst %.c,build/%,$(wildcard selftests/unit/test_*.c))
MODEL_TESTS	:= $(patsubst %.c,build/%,$(wildcard selftests/model/model_*.c))

TEST_CFLAGS	:= -std=gnu11 -Wall -Wextra -Werror -g -ffp-contract=off \
		   -Iuapi -Ikmod/core -Iagent/lib -Iagent -I.
$(UNIT_TESTS):  TEST_CFLAGS += -O1 -fno-omit-frame-pointer \
		   -fsanitize=address,undefined -fno-sanitize-recover
$(MODEL_TESTS): TEST_CFLAGS += -O2

# what the comment of test $1 says: sources; libraries
test-comment	= $(shell sed -n '1,5s|^/\* *links: *\(.*[^ ]\) *\*/|\1|p' $1)
test-links	= $(foreach s,$(shell echo '$(call test-comment,$1)' | sed 's/;.*//'), \
		    $(or $(wildcard $(s)),$(s)))
test-libs	= $(shell echo '$(call test-comment,$1)' | sed -n 's/.*; *libs: *//p')
test-defs	= $(filter -D%,$(call test-libs,$1))
test-pkgs	= $(filter-out -%,$(call test-libs,$1))
test-pkg-config	= $(if $(test-pkgs),$(shell pkg-config $2 $(test-pkgs)))

# "agent/x/y.c" becomes build/selftests/obj/test_X/agent_x_y.o
test-objs	= $(foreach s,$1,build/selftests/obj/$(@F)/$(subst /,_,$(s:.c=.o)))

.SECONDEXPANSION:
$(UNIT_TESTS) $(MODEL_TESTS): build/%: %.c $$(call test-links,$$*.c) selftests/selftests.mk
	@mkdir -p $(@D) build/selftests/obj/$(@F)
	$(eval sources := $< $(call test-links,$<))
	$(eval cflags := $(TEST_CFLAGS) $(call test-defs,$<) \
		$(call test-pkg-config,$<,--cflags))
	@$(foreach s,$(sources),$(CC) $(cflags) -MMD -MP -MT $@ \
		-c -o $(call test-objs,$(s)) $(s) &&) :
	$(CC) $(cflags) -o $@ $(call test-objs,$(sources)) -lcmocka \
		$(call test-pkg-config,$<,--libs) $(filter-out -D%,$(filter -%,$(call test-libs,$<))) -lm

-include $(wildcard build/selftests/obj/*/*.d)

selftests: $(UNIT_TESTS) $(MODEL_TESTS)

include selftests/vm/vm.mk
include selftests/fuzz/fuzz.mk
include selftests/bench/bench.mk

# The core is compiled alone, to see that it needs nothing.
.PHONY: check-purity
check-purity:
	@scripts/check-purity
