# SPDX-License-Identifier: GPL-2.0
#
# Programs that the tests in the VM use. Static: emulated, the dynamic linker takes
# longer than most of them.

VM_PARTS	:= $(addprefix selftests/vm/,reference.c datagram.c genl.c netmsg.c inject.c mutate.c \
			replay.c twinmsg.c)
VM_PROGRAMS	:= $(patsubst %.c,build/%,$(filter-out $(VM_PARTS), \
			$(wildcard selftests/vm/*.c)))
VM_CFLAGS	:= -std=gnu11 -Wall -Wextra -Werror -O3 -g -ffp-contract=off \
		   -Iuapi -Iagent/lib
VM_HEADERS	:= $(wildcard selftests/vm/*.h agent/lib/*.h uapi/linux/*.h)

build/selftests/vm/clocks build/selftests/vm/rank: selftests/vm/reference.c
build/selftests/vm/udp build/selftests/vm/wire: selftests/vm/datagram.c
build/selftests/vm/odd_netlink build/selftests/vm/nomem: selftests/vm/netmsg.c selftests/vm/genl.c
build/selftests/vm/nomem: selftests/vm/inject.c
build/selftests/vm/fuzz_wire: selftests/vm/datagram.c selftests/vm/mutate.c
build/selftests/vm/fuzz_netlink: selftests/vm/datagram.c selftests/vm/genl.c
build/selftests/vm/odd_twin build/selftests/vm/pin_twin: selftests/vm/twinmsg.c agent/lib/broker.c \
	agent/lib/call.c agent/lib/error.c agent/lib/message.c agent/lib/sync_name.c
build/selftests/vm/saver: agent/lib/broker.c agent/lib/call.c agent/lib/error.c agent/lib/message.c agent/lib/sync_name.c \
	agent/lib/checkpoint_file.c
# libgagg, with what libgagg.a hides
$(addprefix build/selftests/vm/,checkpoint clocks elastic gossip job late quorum rank replica \
	signals store teller tensors): $(LIB_OBJS)

$(VM_PROGRAMS): build/%: %.c $(VM_HEADERS) selftests/vm/vm.mk
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -static -o $@ $(filter %.c %.o,$^) -luring -lm -lpthread

# The core in userspace, which carries out a trace; and the same with a line of
# the core changed, to see that a difference is noticed: 36-replay.sh.
REPLAY_SOURCES	:= selftests/vm/replay.c $(filter-out kmod/core/group/join% kmod/core/group/follow% kmod/core/group/state%, \
			$(wildcard kmod/core/*.c kmod/core/*/*.c))
REPLAY_DEPS	:= $(REPLAY_SOURCES) $(wildcard kmod/core/*.h kmod/core/*/*.h) kmod/traced.h \
			$(wildcard uapi/linux/*.h) selftests/vm/vm.mk

build/selftests/vm/replay: $(REPLAY_DEPS)
	@mkdir -p $(@D)
	$(CC) $(VM_CFLAGS) -Ikmod -Ikmod/core -o $@ $(REPLAY_SOURCES)

build/selftests/vm/replay-changed: $(REPLAY_DEPS)
	@mkdir -p $(@D)
	@rm -rf $@.kmod && mkdir $@.kmod && cp -r kmod/core kmod/traced.h $@.kmod/
	sed -i 's/^\(#define GAGG_PATH_REORDER\s*\)3/\14/' $@.kmod/core/path.h
	@! cmp -s kmod/core/path.h $@.kmod/core/path.h
	$(CC) $(VM_CFLAGS) -I$@.kmod -I$@.kmod/core -o $@ $(REPLAY_SOURCES:kmod/%=$@.kmod/%)

selftests: $(VM_PROGRAMS) build/selftests/vm/replay build/selftests/vm/replay-changed
