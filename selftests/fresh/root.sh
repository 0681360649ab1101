# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# A Debian 12 beside this machine's, made by debootstrap; to be sourced with $root, where it
# is to be, and $debs, where packages are kept. It installs from where this machine does.
# Whatever is mounted and run belongs to the namespaces of who sources this.
#
#   root_make PACKAGE...        a minimal system, and these
#   root_add_user NAME
#   root_run NAME SCRIPT        as this user, in their home

# shellcheck disable=SC2154 # root and debs

root_die()
{
	echo "root: $*" >&2
	return 1
}

# what this machine's apt reads of Debian 12: lines of SITE SUITE COMPONENT
root_sources()
{
	# shellcheck disable=SC2016 # apt's, not the shell's
	apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(SITE) $(RELEASE) $(COMPONENT)' \
		'Created-By: Packages' |
		awk '$1 == "Debian" && $2 ~ /^bookworm(-updates|-security)?$/ { print $3, $4, $5 }'
}

# the network's names and proxies are this machine's, too
root_network()
{
	cp -L /etc/resolv.conf /etc/hosts "$root/etc/" || return
	sed 's/^/deb /' "$root.sources" >"$root/etc/apt/sources.list"
	apt-config dump | grep -E '^Acquire::(https?|Retries|Check-(Date|Valid-Until))' \
		>"$root/etc/apt/apt.conf.d/90host"
	# nobody may start a service here
	printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" &&
		chmod 755 "$root/usr/sbin/policy-rc.d"
}

root_mount()
{
	mkdir -p "$root/var/cache/apt/archives" &&
		mount --bind "$debs" "$root/var/cache/apt/archives" &&
		mount -t proc proc "$root/proc" &&
		mount -t sysfs sysfs "$root/sys" &&
		mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm" &&
		mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$root/dev/pts" ||
		return
	[ -z "${GAGG_CACHE:-}" ] || {
		mkdir -p "$GAGG_CACHE" "$root/var/cache/gagg" &&
			mount --bind "$GAGG_CACHE" "$root/var/cache/gagg"
	}
}

root_make()
{
	local site packages

	root_sources >"$root.sources"
	site=$(awk '$2 == "bookworm" { print $1; exit }' "$root.sources")
	[ -n "$site" ] || root_die "this machine installs nothing from a Debian 12 archive" || return
	packages=$(IFS=,; echo "$*")
	[[ $site != https:* ]] || packages+=,ca-certificates
	http_proxy=$(root_proxy) debootstrap --variant=minbase --include="$packages" \
		--cache-dir="$debs" bookworm "$root" "$site" && root_network && root_mount
}

# apt's, for wget of debootstrap
root_proxy()
{
	local proxy

	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	echo "${proxy:-${http_proxy:-}}"
}

# root_enter COMMAND...: with $root as its root directory. Not by chroot: who is in one may make
# no user namespace, and the root directory of a mount namespace has to be a mount
root_enter()
{
	# shellcheck disable=SC2016 # the other shell's
	unshare --mount --propagation private bash -c '
		mount --rbind "$1" "$1" && cd "$1" && pivot_root . mnt && cd / && umount -l mnt || exit
		exec "${@:2}"' bash "$root" "$@"
}

root_add_user()
{
	root_enter useradd --create-home --shell /bin/bash "$1"
}

root_run()
{
	local user=$1 home=/home/$1

	[ "$user" != root ] || home=/root
	root_enter /usr/bin/env -i HOME="$home" USER="$user" LANG=C.UTF-8 \
		${GAGG_CACHE:+GAGG_CACHE=/var/cache/gagg} \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		runuser -u "$user" -- bash -c "cd && $2" </dev/null
}
