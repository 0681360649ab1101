# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # the variables of vm/run
# shellcheck disable=SC2054 # the kernel's parameters contain commas
# SPDX-License-Identifier: GPL-2.0
#
# An engine of vm/run, which sources it: the guest is a process, User-mode Linux. The
# host's root is hostfs.

image=$("$top/vm/kernels" vmlinuz "$kernel")
config=$("$top/vm/kernels" kdir "$kernel")/.config
# SIGTERM does not end it
kill=(-s KILL)

# configured OPTION: of the kernel
configured()
{
	grep -qx "CONFIG_$1=y" "$config"
}

# A guest with one CPU is processes that wait for each other. They wake up in half the time if
# they share a CPU of the host, so each guest takes one that no other guest has: the lock
# goes with the last process that has inherited it. None is free, or known: any will do.
take_cpu()
{
	local dir lock

	for dir in /sys/devices/system/cpu/cpu[0-9]*; do
		[ -r "$dir" ] || continue
		exec {lock}<"$dir"
		if flock -n "$lock" && taskset -c "${dir##*cpu}" true 2>/dev/null; then
			on_cpu=(taskset -c "${dir##*cpu}")
			return
		fi
		exec {lock}<&-
	done
}

if [ "$nodes" -gt 1 ] || [ -n "$nic$icount" ]; then
	die "--nodes, --nic and --icount require a kernel for QEMU, not '$kernel'"
fi
on_cpu=()
if configured SMP; then
	parameters+=" ncpus=$cpus"
elif [ -n "$cpus_given" ] && [ "$cpus" -gt 1 ]; then
	die "--cpus $cpus: '$kernel' is built for one CPU"
fi
if [ "$cpus" -eq 1 ] || ! configured SMP; then
	take_cpu
fi
if configured UML_TIME_TRAVEL_SUPPORT; then
	# what looks for mistakes takes long enough without waiting
	case $kernel in
	*-debug)	clock=${clock:-skip} ;;
	*)		clock=${clock:-virtual} ;;
	esac
elif [ -n "$clock$seed" ]; then
	die "--clock and --seed require a kernel with virtual time (uml-virtual), not '$kernel'"
fi
case $clock in
virtual)	parameters+=" time-travel=inf-cpu" ;;
skip)		parameters+=" time-travel" ;;
'')		;;
*)		die "--clock $clock: expected virtual or skip" ;;
esac
# Who waits for a grace period waits for ticks, of which there are 100 a second: a group
# is deleted in 37 ms so, in 120 otherwise. Kernels that look for mistakes, those in QEMU
# and virtual time have the usual length.
case $kernel in
uml|uml-6.1)	parameters+=" rcupdate.rcu_expedited=1" ;;
esac
# 6.1 has no other way than ptrace
! grep -q '^ *--seccomp\|seccomp=' <("$image" --help) || parameters+=" seccomp=on"

# The command line says nothing that differs between runs, and neither does what the
# guest's kernel learns of the host: the rest is in the folder in which the guest is
# started. The clock begins with the year 2026.
uml_guest()
{
	local environment=(HOME=/proc/self/cwd) words

	cat >"$run/environment" <<-END
		gagg_top=$(printf %q "$top")
		gagg_run=$(printf %q "$run")
		gagg_out=$(printf %q "$out")
		gagg_mods=$(printf %q "$gagg_mods")
		gagg_token=$token
		gagg_scan=${scan:+1}
		gagg_terminal=/dev/tty0
	END
	ln -s "$top/vm/init" "$run/init"
	if [ "$clock" = virtual ]; then
		parameters+=" norandmaps time-travel-start=1767225600000000000"
		environment+=(LD_PRELOAD="$("$top/vm/dice")" GAGG_SEED="${seed:-0}")
	fi
	# What it says of the host before it has a console is part of the log. It begins a
	# session of its own, so it cannot be killed with timeout's process group: it dies
	# with timeout.
	guest=(env -i --chdir="$run" "${environment[@]}" setpriv --pdeathsig KILL
		"${on_cpu[@]}" sh -c 'exec "$@" 2>&7' - "$image" root=/dev/root
		rootfstype=hostfs rootflags=/ ro init=/proc/self/cwd/init "mem=$mem"
		con=null con0=fd:0,fd:1 ssl=null ssl0=null,fd:7 ssl1=null,fd:8
		console=ttyS0)
	read -ra words <<<"$(tr -s ' \t\n' ' ' <<<"$parameters $append")"
	guest+=("${words[@]}")
	ulimit -c 0
	# a file that the guest has open, and each that it keeps for the next time, is open here
	ulimit -Sn "$(ulimit -Hn)"
}
