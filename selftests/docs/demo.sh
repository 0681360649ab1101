#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make demo" by an ordinary user, and what is said to whom it does not work for. Root
# becomes one: "nobody", with a copy of the tree and of what was built, in its place.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
umask 022
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
top=$PWD
user=()
tmp=${inside:-}
if [ -z "$tmp" ]; then
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	chmod 755 "$tmp"
	# what is mounted there is not when it is removed
	if [ "$(id -u)" -eq 0 ]; then
		unshare --mount --propagation private env inside="$tmp" "$0"
		exit
	fi
else
	user=(setpriv --reuid 65534 --regid 65534 --clear-groups env -u inside HOME=/nonexistent)
fi
# of the make that has begun this
unset MAKEFLAGS MFLAGS MAKELEVEL KERNEL

copy()
{
	local release built theirs=(--owner=65534 --group=65534 --numeric-owner)

	release=$(vm/kernels release uml) || return
	built=$(find build -maxdepth 1 ! -type d ! -name "*.new.*") || return
	mkdir "$tmp/tree" || return
	# shellcheck disable=SC2086 # a list
	{
		tar "${theirs[@]}" --exclude=./.git --exclude=./build -cf - . &&
		tar "${theirs[@]}" -cf - build/agent "build/kmod/$release" $built
	} | tar -xif - -C "$tmp/tree" && mkdir -p "$tmp/tree/build/kernels/uml" &&
		chown 65534:65534 "$tmp"/tree{,/build{,/kernels,/kmod}}
}

# The copy is where the tree was, so that nothing is built again; the kernel is in it, to be
# read. Above it a tmpfs covers what nobody may not enter.
in_place()
{
	local above=/ name kernel=$tmp/tree/build/kernels/uml

	mount --bind build/kernels/uml "$kernel" && mount -o remount,bind,ro "$kernel" &&
		cd / || return
	for name in ${top//\// }; do
		above+=$name
		[ "$above" != "$top" ] || break
		"${user[@]}" test -x "$above" && above+=/ && continue
		mount -t tmpfs -o mode=755 none "$above" && mkdir -p "$top" || return
		break
	done
	mount --rbind "$tmp/tree" "$top" && cd "$top" || return
}

prepared()
{
	[ ${#user[@]} -gt 0 ] || return 0
	copy && in_place
}

demo()
{
	"${user[@]}" make demo </dev/null 2>&1 | tee "$tmp/demo"
}

# of twins, and of the module in User-mode Linux
one_digest()
{
	sed -n 's/.*(digest \([0-9a-f]*\))$/\1/p' "$tmp/demo" >"$tmp/digests"
	cat "$tmp/digests"
	[ "$(wc -l <"$tmp/digests")" -eq 2 ] && [ "$(sort -u "$tmp/digests" | wc -l)" -eq 1 ]
}

three_lines()
{
	[ "$(sed '1,/^Next:$/d' "$tmp/demo" | wc -l)" -eq 3 ]
}

packages_are_named()
{
	mkdir -p "$tmp/bin" && cat >"$tmp/bin/dpkg-query" <<-'END' && chmod 755 "$tmp/bin/dpkg-query"
		#!/bin/sh
		case $* in
		*liburing-dev)	exit 1 ;;
		esac
		echo installed
	END
	! "${user[@]}" env PATH="$tmp/bin:$PATH" make demo </dev/null 2>&1 | tee "$tmp/refused" &&
		grep -qx '  sudo apt-get install --no-install-recommends liburing-dev' "$tmp/refused"
}

no_terminal()
{
	! "${user[@]}" make vm-shell </dev/null 2>&1 | tee "$tmp/refused" &&
		grep -q 'no terminal' "$tmp/refused"
}

# each "make TARGET" of README and of the page on testing
help_has_all()
{
	local target missing=0

	make help >"$tmp/help"
	while read -r target; do
		# "make sums" is no command
		grep -q "^$target:" Makefile selftests/*/*.mk selftests/selftests.mk || continue
		grep -q "^make $target\b" "$tmp/help" && continue
		echo "$target"
		missing=1
	done < <(grep -oh '\bmake [a-z][-a-z]*' README.md Documentation/testing.md |
		sed 's/make //' | sort -u)
	return "$missing"
}

echo "1..7"
check "there is a tree of the user's own" prepared
check "make demo" demo
check "twins and module have one digest" one_digest
check "there are three lines on what is next" three_lines
check "a package that is missing is named" packages_are_named
check "vm-shell refuses without a terminal" no_terminal
check "make help has what README and testing.md name" help_has_all
exit $bad
