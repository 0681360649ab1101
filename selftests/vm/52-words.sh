#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Command lines and configurations that are wrong: what is said of them, the exit
# status, and that nothing has changed.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/refused.sh
. "$(dirname "$0")/refused.sh"

# STATUS PATTERN|ARGUMENT...
lines=(
	"2 .*|bogus" "2 .*|group" "2 .*|group bogus" "2 .*|group create" "2 .*local.*|group create x"
	"2 .*expected an IPv4 or IPv6 address, not 'nowhere'|group create x local nowhere"
	"2 .*is no option.*|group create x local 10.77.0.1 bogus 1"
	"2 .*port is there twice|group set g port 1 port 2"
	"2 .*port needs a value|group set g port"
	"2 .*expected a number from 0 to 65535, not '65536'|group set g port 65536"
	"2 .*expected a number of chunks.*not '1x'|group set g ring 1x"
	"2 .*|group set g port -1"
	"2 .*expected a number.*not '1x'|group set g window 1x"
	"2 .*expected octal digits.*|group set g mode 0888"
	"2 .*no user of this host|group set g uid nobodyknows"
	"2 .*is no placement.*|group set g placement middle"
	"2 .*what to set is missing|group set g"
	"2 .*at most 31 characters.*|group delete abcdefghijklmnopqrstuvwxyz012345"
	"2 .*is too much|group delete g g"
	"2 .*name of a group is missing|member list"
	"2 .*expected RANK=ADDRESS.*|member add g 5"
	"2 .*is no role.*|member add g 5=10.77.0.2,color=red"
	"2 .*is no role.*|member add g 5=10.77.0.2,king"
	"2 .*what to set is missing|member set g 1"
	"2 .*|stats g --bogus" "2 .*|apply" "2 .*|--bogus"
	"1 .*no group has this name.*|group delete x"
	"1 .*no group has this name.*|group set x mode 0600"
	"1 .*no group has this name.*|group show x"
	"1 .*no group has this name.*|member list x"
	"1 .*no group has this name.*|stats x"
	"1 .*lanes must be a multiple.*|group set g lanes 9"
	"1 .*rank.*63.*|member add g 64=10.77.0.2"
	"1 .*a member has this rank.*|member add g 1=10.77.0.2"
	"1 .*|apply /nosuch" "1 .*|apply /dev/null/x"
)

# one line of a configuration that is wrong, and what is said of it
configs=(
	"bogus = 1|c:2: .*no such option.*"
	"lanes = 7|c:2: group \"x\": lanes = \"7\": allowed is .*"
	"ring = 100|c:.*: ring = 100: ring must be a multiple of window.*"
	"window = 100|c:2: .*window = \"100\": allowed is.*"
	"port = 0|c:2: .*port = \"0\": allowed is.*"
	"shards = 99|c:2: .*shards = \"99\": allowed is.*"
	"mode = 0777|c:2: .*mode = \"0777\": allowed is.*"
	"uid = nobodyknows|c:2: .*uid = \"nobodyknows\": allowed is.*"
	"sync = app|c:2: .*sync = \"app\": allowed is.*"
	"placement = up|c:2: .*placement = \"up\": allowed is.*"
	"dead-after = 1|c:2: .*dead-after = \"1\": allowed is.*"
	"cwnd = 1 cwnd = 2|c:2: .*"
	"member 64 { address = 10.77.0.2 }|c:.*a rank is a number from 0 to 63.*"
	"member 1 { address = here }|c:2: .*address = \"here\": allowed is.*"
	"member 1 { }|c:2: .*has no address.*"
	"member 1 { address = 10.77.0.2 weight = 1 }|c:2: .*no such option .weight.*"
	"member 1 { address = 10.77.0.2 role = king }|c:2: .*role = \"king\": allowed is.*"
	"member 1 { address = fd77::2 }|c:.*all addresses of a group must be of one family.*"
	"member 00 { address = 10.77.0.2 }|c:.*rank 0 is there already.*"
	"member 1 { address = 10.77.0.2|c:3: .*no such option .member.*"
)

plan $((${#lines[@]} + ${#configs[@]} + 4))

module_load "$@"
layout 3
net_ready 1500
one_group

# said STATUS PATTERN COMMAND...
said()
{
	local want=$1 pattern=$2 status text
	shift 2

	text=$(net_exec 0 "$@" 2>&1 </dev/null)
	status=$?
	echo "status $status: $text"
	[ $status -eq "$want" ] || return
	[ -n "$text" ] && [[ $text =~ ^$pattern ]] && unchanged
}

for line in "${lines[@]}"; do
	pattern=${line%%|*}
	# shellcheck disable=SC2086 # words
	check "gaggctl ${line#*|}" said "${pattern%% *}" "${pattern#* }" gaggctl ${line#*|}
done

cd "$tmp" || bail "no $tmp"
for line in "${configs[@]}"; do
	printf 'group "x" {\n%s\nmember 0 { address = 10.77.0.1 }\n}\n' "${line%%|*}" >c
	check "apply: ${line%%|*}" said 1 "(gaggctl: )?${line#*|}" gaggctl apply c
done
check "gaggd does not begin with a configuration that is wrong" \
	said 1 ".*c:" timeout 20 gaggd --socket "$tmp/s" --config c
check "gaggd takes no arguments" said 2 ".*no arguments" gaggd bogus
check "gaggd: options that there are not" said 2 ".*" gaggd --bogus
check "gaggd: values that there are not" said 2 ".*allowed is" gaggd --log-level loud
