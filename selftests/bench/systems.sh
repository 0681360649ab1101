# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The systems that are measured, each on N hosts of vm/net.sh, one rank a host.
# To be sourced, in the VM, after vm/net.sh.
#
#   systems_up N [OPTION...]  hosts; gaggd and a group on each (OPTIONs as of
#                             gaggctl), and the twin, if there is one
#   systems_down
#   links RATE                such as 1gbit, both ways, on all hosts; links_clear
#   system_run SYSTEM SECONDS WORD...
#       gagg-bench's WORDs on every host; prints what rank 0 prints. SYSTEM: gagg,
#       twin, gloo, openmpi, mpich, nccl, gagg-N or twin-N. Ends after SECONDS.
#
# $MTU is the network's (1500); the datagrams of gagg and of the twin fill it. Each number N
# in $SHARDS gives both a group with so many shards, and so the systems gagg-N and twin-N.
# With $NATIVE, outside the VM in namespaces of our own, there is no module, so no gagg.
#
# Traps: MPICH's UCX takes shared memory unless it is told not to; OpenMPI asks
# for a host name of its own in each namespace; both spin while they wait, which
# OpenMPI can be talked out of (mpi_yield_when_idle), and UCX is (yield.c): with fewer
# CPUs than ranks it takes twelve times as long otherwise. NCCL refuses two ranks on one
# GPU, unless they say that they are on two machines (NCCL_HOSTID).

# shellcheck disable=SC2154 # of vm/net.sh
systems_built=$net_top/build/selftests/bench
systems_run=/run/bench
systems_n=0

# lanes, a multiple of 8, that a packet has room for behind the headers of IPv6, UDP
# and gagg
systems_lanes()
{
	local room=$((${MTU:-1500} - 40 - 8 - 64))

	echo $(((room - room % 32) / 4))
}

# twin_group NAME PORT SHARDS
twin_group()
{
	local i

	echo "group $1 {"
	echo "	port = $2"
	echo "	lanes = $(systems_lanes)"
	echo "	shards = $3"
	for ((i = 0; i < systems_n; i++)); do
		echo "	member $i { address = $(net_ip4 "$i") }"
	done
	echo "}"
}

systems_conf()
{
	local port=7640 shards

	twin_group twin $port 1
	for shards in ${SHARDS:-}; do
		twin_group "twin-$shards" $((port += 16)) "$shards"
	done
}

# groups of the module that have more shards; up.sh has made the one that has not
gagg_groups()
{
	local i r port=7440 shards members=()

	for ((r = 0; r < systems_n; r++)); do
		members+=(member "$r=$(net_ip4 "$r")")
	done
	for shards in ${SHARDS:-}; do
		port=$((port + 16))
		for ((i = 0; i < systems_n; i++)); do
			net_exec "$i" "$net_top/build/gaggctl" group create "bench-$shards" \
				local "$(net_ip4 "$i")" port $port shards "$shards" \
				lanes "$(systems_lanes)" "${members[@]}" || return
		done
	done
}

systems_up()
{
	local i

	systems_n=$1
	shift
	mkdir -p "$systems_run"
	net_up "$systems_n" "${MTU:-1500}" || return
	if [ -n "${NATIVE:-}" ]; then
		mkdir -p /run/gagg
	else
		"$net_top/agent/examples/up.sh" "$systems_n" bench lanes "$(systems_lanes)" "$@" &&
			gagg_groups || return
	fi
	[ -x "$net_top/build/gagg-twin" ] || return 0
	systems_conf >"$systems_run/twin.conf"
	for ((i = 0; i < systems_n; i++)); do
		net_exec "$i" "$net_top/build/gagg-twin" --config "$systems_run/twin.conf" \
			--local "$(net_ip4 "$i")" --socket "/run/gagg/twin$i.sock" \
			>"/run/gagg/twin$i.log" 2>&1 &
	done
	for ((i = 0; i < 100; i++)); do
		[ "$(compgen -G "/run/gagg/twin*.sock" | wc -l)" -lt "$systems_n" ] || return 0
		sleep 0.1
	done
	cat /run/gagg/twin*.log >&2
	return 1
}

systems_down()
{
	net_down
	rm -rf "$systems_run" /run/gagg
}

# every host runs COMMAND with the words; %I in them is the number of the host
on_every_host()
{
	local seconds=$1 i pid pids=() status=0
	shift

	for ((i = systems_n - 1; i >= 0; i--)); do
		if [ $i -gt 0 ]; then
			net_exec $i timeout -k 2 "$seconds" "${@//%I/$i}" >/dev/null &
		else
			net_exec $i timeout -k 2 "$seconds" "${@//%I/$i}" &
		fi
		pids+=($!)
	done
	for pid in "${pids[@]}"; do
		wait "$pid" || status=$?
	done
	return $status
}

host_list()
{
	local i list=()

	for ((i = 0; i < systems_n; i++)); do
		list+=("$(net_ip4 $i)")
	done
	(IFS=,; echo "${list[*]}")
}

run_gloo()
{
	local seconds=$1
	shift

	rm -rf "$systems_run/gloo"
	mkdir -p "$systems_run/gloo"
	on_every_host "$seconds" "$systems_built/gloo" "$@" --rank %I --ranks "$systems_n" \
		--rendezvous "$systems_run/gloo"
}

run_openmpi()
{
	local seconds=$1
	shift

	net_exec 0 unshare -u "$net_top/selftests/bench/agent.sh" --here \
		timeout -k 2 "$seconds" mpirun.openmpi \
		--allow-run-as-root -n "$systems_n" --host "$(host_list)" --bind-to none \
		--mca plm_rsh_agent "$net_top/selftests/bench/agent.sh" \
		--mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 \
		--mca btl tcp,self --mca btl_tcp_if_include eth0 --mca pml ob1 \
		--mca mpi_yield_when_idle 1 \
		--mca coll_tuned_use_dynamic_rules 1 \
		--mca coll_tuned_allreduce_algorithm_segmentsize 131072 \
		"$systems_built/openmpi" "$@"
}

run_mpich()
{
	local seconds=$1
	shift

	net_exec 0 unshare -u "$net_top/selftests/bench/agent.sh" --here \
		env UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 MPIR_CVAR_NOLOCAL=1 \
		LD_PRELOAD="$systems_built/yield.so" \
		timeout -k 2 "$seconds" mpiexec.hydra \
		-launcher ssh -launcher-exec "$net_top/selftests/bench/agent.sh" \
		-iface eth0 -hosts "$(host_list)" -n "$systems_n" \
		"$systems_built/mpich" "$@"
}

run_nccl()
{
	local seconds=$1
	shift

	rm -rf "$systems_run/nccl"
	mkdir -p "$systems_run/nccl"
	on_every_host "$seconds" env NCCL_HOSTID=h%I NCCL_SOCKET_IFNAME=eth0 NCCL_IB_DISABLE=1 \
		NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1 "$systems_built/nccl" "$@" \
		--rank %I --ranks "$systems_n" --rendezvous "$systems_run/nccl"
}

system_run()
{
	local system=$1 seconds=$2
	shift 2

	case $system in
	gagg|gagg-*)
		on_every_host "$seconds" "$net_top/build/gagg-bench" "$@" \
			--group "bench${system#gagg}" --rank %I --socket /run/gagg/h%I.sock ;;
	twin|twin-*)
		on_every_host "$seconds" "$net_top/build/gagg-bench" "$@" \
			--group "$system" --rank %I --socket /run/gagg/twin%I.sock ;;
	gloo)	run_gloo "$seconds" "$@" ;;
	openmpi) run_openmpi "$seconds" "$@" ;;
	mpich)	run_mpich "$seconds" "$@" ;;
	nccl)	run_nccl "$seconds" "$@" ;;
	*)	echo "no system '$system'" >&2; return 2 ;;
	esac
}

links()
{
	local i

	net_rate "$1" || return
	for ((i = 0; i < systems_n; i++)); do
		net_exec "$i" tc qdisc replace dev eth0 root tbf rate "$1" burst 256kb limit 8mb ||
			return
	done
}

links_clear()
{
	local i

	for ((i = 0; i < systems_n; i++)); do
		net_exec "$i" tc qdisc del dev eth0 root 2>/dev/null
	done
	net_clear
}
