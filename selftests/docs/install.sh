#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make install" with another PREFIX and LIBDIR, with the module and without; what is
# installed works; "make uninstall" leaves no trace of it.

# shellcheck disable=SC2317 # check calls them
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL KERNEL
root=$tmp/root prefix=/opt/g
words=(DESTDIR="$root" PREFIX="$prefix" LIBDIR="$prefix/lib64")
export PKG_CONFIG_PATH=$root$prefix/lib64/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root

# what is there, with the folders, and what the files hold
snapshot()
{
	(cd "$root" && find . -printf '%y %m %l %p\n' | sort &&
		find . -type f -exec sha256sum {} + | sort -k 2)
}

# somebody else has files, and a folder that is empty
others()
{
	mkdir -p "$root$prefix/bin" "$root$prefix/include" "$root/lib/modules" &&
		echo other >"$root$prefix/bin/other" && snapshot >"$tmp/before"
}

installed()
{
	make "${words[@]}" "$@" install
}

has()
{
	local path

	for path; do
		[ -e "$root$path" ] || { echo "no $path"; return 1; }
	done
}

has_all()
{
	has "$prefix"/{sbin/{gaggd,gaggctl,gagg-twin},bin/gagg-bench,lib64/libgagg.{so,a}} \
		"$prefix"/share/man/{man1/gagg-bench.1,man3/gagg.3,man5/gagg.conf.5} \
		"$prefix"/share/man/man8/{gaggd,gaggctl,gagg-twin}.8 \
		"$prefix"/share/doc/gagg/examples/{gagg.conf,digits.c,data/digits.csv.gz} \
		"$prefix"/share/bash-completion/completions/{gaggctl,gagg-bench}
}

# each function of the library has one, in which groff finds nothing wrong
has_pages()
{
	local man3=$root$prefix/share/man/man3 name warned

	nm -D --defined-only "$root$prefix/lib64/libgagg.so" |
		sed -n 's/.* T \(gagg_[a-z_0-9]*\)@.*/\1/p' >"$tmp/functions"
	[ "$(wc -l <"$tmp/functions")" -gt 50 ] || return
	while read -r name; do
		has "$prefix/share/man/man3/$name.3" || return
	done <"$tmp/functions"
	warned=$(groff -man -ww -z "$man3"/*.3 2>&1)
	[ -z "$warned" ] || { echo "$warned"; return 1; }
	groff -man -T ascii -P -cbou "$man3/gagg_allreduce.3" >"$tmp/page" || return
	grep -qx 'ARGUMENTS' "$tmp/page" && grep -q '^ *sendbuf$' "$tmp/page" &&
		grep -q 'struct gagg_plan \*plan);' "$tmp/page" &&
		grep -qx 'RETURN VALUE' "$tmp/page"
}

has_module()
{
	has "/lib/modules/$(vm/kernels release uml)/updates/gagg.ko"
}

# each program that a unit starts is there
units()
{
	local program

	sed -n 's/^ExecStart=\([^ ]*\).*/\1/p' "$root$prefix"/lib/systemd/system/*.service \
		>"$tmp/programs"
	cat "$tmp/programs"
	[ "$(wc -l <"$tmp/programs")" -eq 2 ] || return
	while read -r program; do
		has "$program" || return
	done <"$tmp/programs"
}

# the examples, with what pkg-config says, and the library that was installed
builds()
{
	local examples=$root$prefix/share/doc/gagg/examples flags

	read -ra flags < <(pkg-config --cflags --libs gagg) || return
	cc -o "$tmp/digits" "$examples"/*.c "${flags[@]}" -lz -lm &&
		LD_LIBRARY_PATH=$root$prefix/lib64 "$tmp/digits" --single --epochs 0 \
			--data "$examples/data/digits.csv.gz" &&
		LD_LIBRARY_PATH=$root$prefix/lib64 ldd "$tmp/digits" | grep "$root$prefix/lib64/libgagg"
}

# The sample, with addresses that this host has, and a port that anybody may bind
sample()
{
	sed 's/10\.0\.0\./127.0.0./; s/port = 811/port = 18110/' \
		"$root$prefix/share/doc/gagg/examples/gagg.conf" >"$tmp/gagg.conf"
	timeout -s TERM 60 "$root$prefix/sbin/gagg-twin" --config "$tmp/gagg.conf" --local 127.0.0.1 \
		--socket "$tmp/sock" 2>"$tmp/log" &
	for ((i = 0; i < 500; i++)); do
		! grep -q 'ready at' "$tmp/log" || break
		sleep 0.1
	done
	kill $!
	wait $!
	cat "$tmp/log"
	grep -q 'ready at' "$tmp/log"
}

no_trace()
{
	make "${words[@]}" uninstall && snapshot >"$tmp/after" && diff "$tmp/before" "$tmp/after"
}

# the module would be one for another kernel: it has to be named
no_headers()
{
	! make "${words[@]}" KREL=none install >"$tmp/refused" 2>&1
	cat "$tmp/refused"
	grep -q 'linux-headers-.*MODULE=no' "$tmp/refused" &&
		snapshot | diff "$tmp/before" -
}

nothing_there()
{
	! make "${words[@]}" uninstall
}

# of packagers: a DESTDIR that is not there yet, whatever the umask is
fresh()
{
	local to=$tmp/fresh/root

	(umask 077 && make DESTDIR="$to" PREFIX="$prefix" MODULE=no install) &&
		[ "$(stat -c %a "$to$prefix/include/linux")" = 755 ] &&
		make DESTDIR="$to" PREFIX="$prefix" uninstall && [ -z "$(find "$to" -mindepth 1)" ]
}

# relative NAME
relative()
{
	! make DESTDIR="$root" PREFIX="$prefix" "$1=lib" MODULE=no install >"$tmp/refused" 2>&1
	cat "$tmp/refused"
	grep -q "$1 begins with /" "$tmp/refused"
}

# units_in FOLDER WORD...: with these they come there, and go again
units_in()
{
	local to=$tmp/units name
	local folder=$to$1
	shift

	make DESTDIR="$to" MODULE=no "$@" install || return
	for name in gaggd gagg-twin; do
		[ -e "$folder/$name.service" ] || { find "$to" -name '*.service'; return 1; }
	done
	[ "$(find "$to" -name '*.service' | wc -l)" -eq 2 ] &&
		make DESTDIR="$to" "$@" uninstall && [ -z "$(find "$to" -mindepth 1)" ]
}

# below /usr they are where the distribution has its own
units_of_distribution()
{
	mkdir "$tmp/pc" && printf '%s\n' 'Name: systemd' 'Description: -' 'Version: 1' \
		'systemdsystemunitdir=/somewhere/system' >"$tmp/pc/systemd.pc" &&
		PKG_CONFIG_PATH=$tmp/pc PKG_CONFIG_SYSROOT_DIR='' \
			units_in /somewhere/system PREFIX=/usr
}

echo "1..18"
check "there are other files" others
check "no module for another kernel than the one that runs" no_headers
check "make install, without the module" installed MODULE=no
check "all is there" has_all
check "a manual page for each function" has_pages
check "units name the programs" units
check "the examples are built with it" builds
check "gagg-twin takes the sample" sample
check "make install, with the module" installed KERNEL=uml
check "it is there" has_module
check "make install once more, without the module" installed MODULE=no
check "make uninstall leaves no trace" no_trace
check "and nothing to uninstall" nothing_there
check "make install into a folder that is not there" fresh
check "UNITDIR is where units go" units_in /etc/units UNITDIR=/etc/units PREFIX="$prefix"
check "with PREFIX=/usr, where pkg-config says" units_of_distribution
check "a LIBDIR that is no whole path is refused" relative LIBDIR
check "nor is such an UNITDIR taken" relative UNITDIR
# built with another prefix
make -s build/gagg.pc
exit $bad
