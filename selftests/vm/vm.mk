# SPDX-License-Identifier: GPL-2.0
#
# Programs that the tests in the VM use. They have no dependencies on libraries
# that the build makes: the sources of libgagg are linked in.

VM_CFLAGS	:= -std=gnu11 -Wall -Wextra -Werror -O2 -g -ffp-contract=off \
		   -Iuapi -Iagent/lib
VM_LIBGAGG	:= $(filter-out %uring.c,$(wildcard agent/lib/*.c))

build/selftests/vm/rank: selftests/vm/rank.c selftests/vm/reference.c $(VM_LIBGAGG) \
		$(wildcard selftests/vm/*.h agent/lib/*.h uapi/linux/*.h)
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -O3 -o $@ $(filter %.c,$^) -lm -lpthread

VM_PROGRAMS	:= build/selftests/vm/rank
selftests: $(VM_PROGRAMS)
