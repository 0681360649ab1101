#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# sparse has nothing to say about the module: byte order, address spaces,
# locks, what should be static. It gets a tree of its own, with one source more,
# which has a fault of every kind.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

kdir=${KDIR:-$(vm/kernels kdir "${KERNEL:-stock}")} || bail "no kernel headers: vm/kernels get stock"
command -v sparse >/dev/null || bail "no sparse: make deps"
tree=$PWD/build/static/sparse/$(basename "$kdir")
mkdir -p "$tree"
exec {lock}<"$tree"
flock "$lock"

# Links to the sources only; objects stay, so that an unchanged file is not
# compiled again (C=2: but checked).
find "$tree" -type l -delete
sources=(Kbuild)
while IFS= read -r source; do
	sources+=("$source")
done < <(find kmod uapi -type f -name '*.[ch]')
for source in "${sources[@]}"; do
	mkdir -p "$tree/$(dirname "$source")"
	ln -sf "$PWD/$source" "$tree/$source"
done
cat >"$work/planted.c" <<'END'
#include <linux/types.h>
#include <linux/spinlock.h>
#include <linux/uaccess.h>

u32 planted_order(__le32 *p);
u32 planted_order(__le32 *p)
{
	return *p;
}

u32 planted_space(u32 __user *p);
u32 planted_space(u32 __user *p)
{
	return *p;
}

void planted_lock(spinlock_t *lock);
void planted_lock(spinlock_t *lock)
{
	spin_lock(lock);
}

int planted_global;
END
cmp -s "$work/planted.c" "$tree/kmod/planted.c" || cp "$work/planted.c" "$tree/kmod/"

plan 6
status=0
make -C "$kdir" M="$tree" -j "$(nproc)" C=2 CF=-D__CHECK_ENDIAN__ gagg.o \
	>"$work/log" 2>"$work/errors" || status=$?
sed -i "s|$tree/||g" "$work/errors"
[ $status -eq 0 ] && built='' || built=$(cat "$work/errors")
clean "the module compiles" "$built"
clean "no findings" "$(grep -v '^kmod/planted\.c:' "$work/errors")"

found=$(grep '^kmod/planted\.c:' "$work/errors")
caught "an integer of the wrong byte order" 'incorrect type in return expression \(different base types\)' "$found"
caught "an access to userspace" 'dereference of noderef expression' "$found"
caught "a lock that is kept" "context imbalance in 'planted_lock'" "$found"
caught "a global that is not declared" "symbol 'planted_global' was not declared" "$found"
