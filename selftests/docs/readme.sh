#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The programs and commands of README and of the recipes do what is said there, over twins:
# on loopback, and on hosts that are network namespaces.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
[ -n "${inside:-}" ] || exec unshare --map-root-user --net --mount env inside=1 "$0"
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
# shellcheck source=selftests/docs/blocks.sh
. selftests/docs/blocks.sh
# names and states of networks are this script's own
mount -t tmpfs none /run
# shellcheck source=vm/net.sh
. vm/net.sh
top=$PWD
tmp=$(mktemp -d)
trap 'net_down; rm -rf "$tmp"' EXIT
ip link set lo up
ln -s "$top/agent" "$top/build" "$tmp"

# carry_out FILE KIND N: there, where the programs are
carry_out()
{
	block "$@" >"$tmp/script" && (cd "$tmp" && bash -e ./script)
}

in_c()
{
	block README.md c 1 >"$tmp/mean.c" && carry_out README.md sh 1 | tee "$tmp/means" &&
		means
}

# all four ranks have it
means()
{
	# lines of two may be one
	[ "$(grep -o 'rank [0-9] of 4: mean [0-9.]*' "$tmp/means" | sort | tr '\n' ' ')" = \
		"$(printf 'rank %d of 4: mean 1.5 ' 0 1 2 3)" ]
}

# it says what is wrong, and ends
in_c_alone()
{
	! GAGG_SOCKET=$tmp/none "$tmp/mean" 2>&1 | tee "$tmp/means" && grep -q "$tmp/none" "$tmp/means"
}

in_python()
{
	block README.md python 1 >"$tmp/mean.py" && carry_out README.md sh 2 | tee "$tmp/means" &&
		means
}

# Ctrl-C while it waits for the other rank
in_python_interrupted()
{
	# shellcheck disable=SC2016 # that shell's
	(cd "$tmp" && agent/examples/twins.sh 2 train sh -c 'case $GAGG_SOCKET in
		*/0.sock)	timeout -s INT -k 20 3 env --default-signal=INT python3 mean.py
				echo "status $?" ;;
		esac') | tee "$tmp/means" && grep -qx "status 124" "$tmp/means"
}

in_python_alone()
{
	! (cd "$tmp" && GAGG_SOCKET=$tmp/none python3 mean.py) 2>&1 | tee "$tmp/means" &&
		grep -q "$tmp/none" "$tmp/means" && ! grep Traceback "$tmp/means"
}

hosts()
{
	PATH=$PATH:/usr/sbin:/sbin net_up 4
}

# the two commands on h0 and h1, whose addresses are others
two_pcs()
{
	local i pids=() status=0

	block Documentation/recipes.md conf 1 |
		sed "s/10\.0\.0\.1/$(net_ip4 0)/; s/10\.0\.0\.2/$(net_ip4 1)/" >"$tmp/gagg.conf"
	block Documentation/recipes.md sh 1 >"$tmp/script" || return
	for i in 0 1; do
		net_exec "$i" "$top/build/gagg-twin" --config "$tmp/gagg.conf" --socket "$tmp/$i" &
		pids+=($!)
	done
	for i in 0 1; do
		until [ -S "$tmp/$i" ]; do
			kill -0 "${pids[i]}" || return
			sleep 0.1
		done
	done
	GAGG_SOCKET=$tmp/1 PATH=$top/build:$PATH net_exec 1 bash "$tmp/script" &
	GAGG_SOCKET=$tmp/0 PATH=$top/build:$PATH net_exec 0 bash "$tmp/script" | tee "$tmp/rows"
	status=$?
	wait $! || status=1
	kill "${pids[@]}"
	# sizes from 4K to 1M, by 4; none is wrong
	[ "$(awk '$1 + 0 >= 4096 && $9 == 0' "$tmp/rows" | wc -l)" -eq 5 ] && return "$status"
}

container()
{
	carry_out Documentation/recipes.md sh 2 | tee "$tmp/means" && means
}

# nodes are hosts; the job is on the first, srun runs its command on each
slurm()
{
	mkdir -p "$tmp/slurm"
	cat >"$tmp/slurm/scontrol" <<-'END'
		#!/bin/sh
		[ "$*" = "show hostnames nodes[0-3]" ] && printf '10.77.0.%d\n' 1 2 3 4
	END
	cat >"$tmp/slurm/srun" <<-END
		#!/bin/bash
		. $top/vm/net.sh
		for i in 0 1 2 3; do
			net_exec \$i "\$@" &
			pids+=(\$!)
		done
		for pid in "\${pids[@]}"; do
			wait \$pid || exit
		done
	END
	chmod +x "$tmp"/slurm/s*
	block Documentation/recipes.md bash 1 >"$tmp/job" || return
	(cd "$tmp" && SLURM_JOB_ID=7 SLURM_JOB_NODELIST='nodes[0-3]' \
		PATH=$tmp/slurm:$top/build:$PATH net_exec 0 bash ./job) | tee "$tmp/means" && means
}

# Those of README: a drawing and the set-up (demo.sh, and "make check" itself), here, and in
# hosts.sh the last two of the shell. Of the recipes, all are here.
# shellcheck disable=SC2016 # a quote of Markdown
blocks_are_known()
{
	local page

	for page in README.md Documentation/recipes.md; do
		awk -v page="$page" '/^```/ && !inside { kind[$0]++; inside = 1; next } /^```/ { inside = 0 }
			END { for (k in kind) print page, k, kind[k] }' "$page"
	done | LC_ALL=C sort | tee "$tmp/blocks"
	diff "$tmp/blocks" - <<-'END'
		Documentation/recipes.md ```bash 1
		Documentation/recipes.md ```conf 1
		Documentation/recipes.md ```sh 2
		README.md ``` 2
		README.md ```c 1
		README.md ```python 1
		README.md ```sh 4
	END
}

echo "1..10"
check "each block of code is one that a test carries out" blocks_are_known
check "README: a program in C" in_c
check "README: it tells that nobody answers" in_c_alone
check "README: a program in Python" in_python
check "README: Ctrl-C ends it" in_python_interrupted
check "README: it tells that nobody answers" in_python_alone
check "recipes: a container" container
check "there are hosts" hosts
check "recipes: two PCs and a switch" two_pcs
check "recipes: Slurm" slurm
exit $bad
