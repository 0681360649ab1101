# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Debian packages that are fetched, not installed; to be sourced with $top set, and $dir,
# where they are to be: until archive_keep all happens beside it, in $work. The
# archive is the one that this machine installs from.
#
#   archive_open SUITE...       knows the packages of these suites
#   archive_get PACKAGE...      downloads and unpacks them below $work/root;
#                               PACKAGE=VERSION, PACKAGE/SUITE
#   archive_get_into FOLDER PACKAGE...   the same below $work/FOLDER
#   archive_version PACKAGE     the newest version of it
#   archive_keep                $work becomes $dir
#   die MESSAGE

# shellcheck disable=SC2154 # top and dir
# shellcheck source=scripts/progress.sh
. "$top/scripts/progress.sh"
work=$(dirname "$dir")/.$(basename "$dir")
apt=(-o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work/cache"
	-o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=-
	-o "Dir::State::Status=/dev/null" -o APT::Sandbox::User=root
	-o "Debug::NoLocking=1")

die()
{
	echo "$0: $*" >&2
	exit 1
}

archive_open()
{
	local site suite

	mkdir -p "$(dirname "$dir")"
	rm -rf "$work"
	trap 'rm -rf "$work"' EXIT
	trap 'exit 143' TERM INT HUP
	mkdir -p "$work"/{lists/partial,cache/archives/partial,debs,root}

	# shellcheck disable=SC2016 # apt's, not the shell's
	site=$(apt-get indextargets --format '$(SITE) $(CODENAME)' 'Created-By: Packages' |
		awk '$2 == "bookworm" { print $1; exit }')
	[ -n "$site" ] || die "this machine installs nothing from a Debian 12 archive"
	for suite; do
		echo "deb $site $suite main"
	done >"$work/sources.list"
	progress "asking the archive" apt-get "${progress_apt[@]}" "${apt[@]}" update ||
		die "apt-get update"
}

archive_version()
{
	local version

	version=$(apt-cache "${apt[@]}" madison "$1" |
		awk -F'|' '{ gsub(/ /, "", $2); print $2 }' | sort -rV | head -n 1)
	[ -n "$version" ] || die "the archive has no $1"
	echo "$version"
}

# archive_size PACKAGE...: megabytes
archive_size()
{
	apt-get -qq "${apt[@]}" download --print-uris "$@" |
		awk '{ bytes += $3 } END { printf "%.0f", bytes / 1e6 }'
}

archive_get()
{
	archive_get_into root "$@"
}

archive_get_into()
{
	local deb folder=$1
	shift

	echo "  $(archive_size "$@") MB to fetch" >&2
	(cd "$work/debs" &&
	 progress fetching apt-get "${progress_apt[@]}" "${apt[@]}" download "$@") ||
		die "apt-get download"
	for deb in "$work"/debs/*.deb; do
		progress unpacking dpkg-deb -x "$deb" "$work/$folder"
		rm "$deb"
	done
}

archive_keep()
{
	rm -rf "$work"/{lists,cache,debs,log,sources.list}
	mv "$work" "$dir"
	trap - EXIT
}
