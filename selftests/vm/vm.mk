# SPDX-License-Identifier: GPL-2.0
#
# Programs that the tests in the VM use. They depend on no library that the
# build makes: the sources of libgagg are linked in.

VM_PARTS	:= $(addprefix selftests/vm/,reference.c datagram.c genl.c netmsg.c inject.c mutate.c)
VM_PROGRAMS	:= $(patsubst %.c,build/%,$(filter-out $(VM_PARTS), \
			$(wildcard selftests/vm/*.c)))
VM_CFLAGS	:= -std=gnu11 -Wall -Wextra -Werror -O3 -g -ffp-contract=off \
		   -Iuapi -Iagent/lib
VM_HEADERS	:= $(wildcard selftests/vm/*.h agent/lib/*.h uapi/linux/*.h)
VM_LIBGAGG	:= $(filter-out %uring.c,$(wildcard agent/lib/*.c))

build/selftests/vm/rank: selftests/vm/reference.c $(VM_LIBGAGG)
build/selftests/vm/wire: selftests/vm/datagram.c
build/selftests/vm/odd_netlink build/selftests/vm/nomem: selftests/vm/netmsg.c selftests/vm/genl.c
build/selftests/vm/nomem: selftests/vm/inject.c
build/selftests/vm/fuzz_wire: selftests/vm/datagram.c selftests/vm/mutate.c
build/selftests/vm/fuzz_netlink: selftests/vm/datagram.c selftests/vm/genl.c

$(VM_PROGRAMS): build/%: %.c $(VM_HEADERS) selftests/vm/vm.mk
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -o $@ $(filter %.c,$^) -luring -lm -lpthread

selftests: $(VM_PROGRAMS)
