# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of vm/run
# shellcheck disable=SC2054 # QEMU's options contain commas
# SPDX-License-Identifier: GPL-2.0
#
# An engine of vm/run, which sources it: the guest is a machine of QEMU. KVM is used if
# a probe boot succeeds within seconds, emulation otherwise; the host's root is 9p.

if [ -n "$clock$seed" ]; then
	die "--clock and --seed require a kernel with virtual time (uml-virtual), not '$kernel'"
fi

# A faster QEMU, if vm/get-qemu has fetched it. It counts a step of an emulated
# "rep movsq" as more instructions than 7.2, by which ours are recorded.
[ -n "$icount" ] || PATH=$top/build/qemu/bin:$PATH
vmlinux=$("$top/vm/vmlinux" "$kernel")
initramfs=$("$top/vm/initramfs" "$kernel")
kill=(-k 2)

# kvm or tcg. A /dev/kvm that opens proves nothing: some guests never reach
# their kernel. So boot one, and remember the answer until the host reboots.
qemu_accel()
{
	local cache

	cache=$top/build/vm/accel-$(cat /proc/sys/kernel/random/boot_id)
	if [ ! -w /dev/kvm ] || [ -n "$icount" ]; then
		echo tcg
		return
	fi
	if [ ! -r "$cache" ]; then
		timeout -k 1 8 qemu-system-x86_64 -accel kvm -cpu host -m 512M \
			-nodefaults -no-user-config -display none -no-reboot \
			-kernel "$vmlinux" -initrd "$initramfs" \
			-append "panic=-1 quiet gagg_probe=1 gagg_token=$token" \
			-serial null -serial "file:$run/probe" \
			</dev/null >/dev/null 2>&1 || true
		if grep -q "^$token 0" "$run/probe" 2>/dev/null; then
			echo kvm >"$run/accel"
		else
			echo tcg >"$run/accel"
		fi
		mv "$run/accel" "$cache"
	fi
	cat "$cache"
}

qemu_guest()
{
	local machine share i environment

	environment="gagg_top=\"$top\" gagg_run=\"$run\" gagg_token=$token gagg_terminal=/dev/hvc0"
	environment+="${scan:+ gagg_scan=1} gagg_mods=\"$gagg_mods\""
	parameters+=" console=ttyS0 nokaslr mitigations=off random.trust_cpu=on net.ifnames=0"
	case $(qemu_accel) in
	kvm)
		machine=(-accel kvm -cpu host)
		;;
	tcg)
		# rep movsb is emulated byte by byte: offer no fast string operations
		machine=(-cpu max,-erms,-fsrm,-la57)
		if [ -n "$icount" ]; then
			machine+=(-accel tcg,thread=single -icount shift=0)
		else
			machine+=(-accel tcg,thread=multi)
			parameters+=" tsc=reliable no_timer_check"
		fi
		;;
	esac

	guest=(qemu-system-x86_64 -M q35 "${machine[@]}" -m "$mem" -smp "$cpus,sockets=$nodes"
		-nodefaults -no-user-config -display none -no-reboot
		-kernel "$vmlinux" -initrd "$initramfs"
		-append "$(echo "$parameters $environment $append" | tr -s ' \t\n' ' ')"
		-serial "file:$run/console" -serial "file:$run/status"
		-chardev stdio,id=terminal,signal=off
		-device virtio-serial-pci -device virtconsole,chardev=terminal
		-virtfs "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"
		-virtfs "local,path=$out,mount_tag=out,security_model=none,multidevs=remap"
		-device virtio-rng-pci)
	if [ "$nodes" -gt 1 ]; then
		[ $((cpus % nodes)) = 0 ] || die "--cpus $cpus is no multiple of --nodes $nodes"
		share=$(($(numfmt --from=iec "${mem^^}") / nodes))
	fi
	for ((i = 0; nodes > 1 && i < nodes; i++)); do
		guest+=(-object "memory-backend-ram,id=node$i,size=$share"
			-numa "node,memdev=node$i,cpus=$((i * cpus / nodes))-$(((i + 1) * cpus / nodes - 1))")
	done
	[ -z "$nic" ] || guest+=(-netdev "$nic,id=net" -device "virtio-net-pci,netdev=net,mac=$mac,romfile=")
}
