# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# How a kernel is built; sourced by vm/build-kernel, which builds all anew when a line of
# this changes. Series $series for architecture $arch, of the parts of a configuration in
# config, in $work; what is to be kept comes to $work/new.

# shellcheck disable=SC2154 # of vm/build-kernel

# configure: in the source, fails if an option is not what was asked for
configure()
{
	local line wrong=0

	cat "${config[@]}" >"$work/config"
	echo "CONFIG_LOCALVERSION=\"-$name\"" >>"$work/config"
	progress configuring make KCONFIG_ALLCONFIG="$work/config" allnoconfig
	while read -r line; do
		case $line in
		*=n)
			! grep -q "^${line%n}" .config || wrong=1
			;;
		*)
			grep -qxF "$line" .config || wrong=1
			;;
		esac
		[ $wrong -eq 0 ] || die "$line is not possible: see what it depends on"
	done < <(grep '^CONFIG_' "$work/config")
}

# Leave out of the sanitizers what gagg does not come near, and what they call
# all the time. pvh and string: QEMU enters there, before KASAN has its shadow.
uninstrument()
{
	local dir object kind objects=(kernel/{stacktrace,extable} kernel/locking/lockdep
		mm/kmemleak lib/debugobjects)

	if [ "$arch" = x86 ]; then
		objects+=(lib/string arch/x86/kernel/unwind_frame)
		for dir in arch/x86/platform/pvh arch/x86/kernel/{apic,cpu} arch/x86/events \
			   drivers/{acpi,acpi/acpica,pci,pnp,tty,tty/serial,tty/serial/8250}; do
			for kind in KASAN UBSAN; do
				echo "${kind}_SANITIZE := n"
			done >>"$dir/Makefile"
		done
	else
		objects+=(arch/um/kernel/{stacktrace,time,irq,process})
	fi
	for object in "${objects[@]}"; do
		for kind in KASAN UBSAN; do
			echo "${kind}_SANITIZE_${object##*/}.o := n"
		done >>"${object%/*}/Makefile"
	done
}

# headers DIR: what building a module requires (as scripts/package/builddeb has it)
headers()
{
	local arches="arch/x86" optional

	[ "$arch" = x86 ] || arches+=" arch/$arch arch/x86/um"
	optional=$(ls tools/objtool/objtool 2>/dev/null || true)
	# a folder that the compiler is told of, though it is empty
	mkdir -p "$1/arch/$arch/include/generated/uapi"
	# shellcheck disable=SC2046,SC2086 # lists
	{
		find . $arches -maxdepth 1 -name 'Makefile*'
		find $arches -name Kbuild.platforms -o -name Platform
		find include scripts $(find $arches -type d \( -name include -o \
			-path '*/um/asm' -o -path '*/um/shared' \)) -type f -o -type l
		ls .config Module.symvers $optional
	} | sort -u | cpio -pdm --quiet "$1"
}

build()
{
	local source release targets=(vmlinux modules)

	source=$("$top/vm/get-source" "$series" archive)
	progress "unpacking the source" tar -xf "$source" -C "$work"
	cd "$work"/linux-source-* || return
	configure
	uninstrument
	# only gagg's own races are looked for
	export KCSAN_SANITIZE=n
	[ "$arch" != um ] || targets=(linux modules)
	progress compiling make -j"$(nproc)" "${targets[@]}"
	if [ "$arch" = um ]; then
		# the program; its symbols are what perf and gdb read
		cp linux "$work/new/vmlinuz"
	else
		objcopy -S vmlinux "$work/new/vmlinuz"
	fi
	release=$(make -s kernelrelease)
	headers "$work/new/kdir"
	progress "its modules" make INSTALL_MOD_PATH="$work/installed" modules_install
	mv "$work/installed/lib/modules" "$work/new/modules"
	rm -f "$work/new/modules/$release"/{build,source}
	cd "$top" || return
}
