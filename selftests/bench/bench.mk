# SPDX-License-Identifier: GPL-2.0
#
# Measuring; see Documentation/performance.md.
#
#   make bench         side by side in the VM: build/bench.json, a table, plots.
#                      QUICK=1, REPS=N and others: selftests/bench/run
#   make bench-bars    comparisons that need networks and groups of their own:
#                      build/bars.json, a table; BARS=, REPS= and others:
#                      selftests/bench/bars
#   make bench-modes   time to accuracy under every sync mode: build/modes.json, a
#                      table, loss curves; SEEDS="1 2" and others: modes.sh
#   make bench-insn    instructions, in a guest whose clock counts them:
#                      build/bench-insn.json
#   make check-insn    gagg's own of these, against selftests/bench/insn.json;
#                      takes no packages of other systems, and is part of "make
#                      check": selftests/machines/insn.sh
#   make record-insn   records them there

BENCH_RIVALS	:= $(addprefix build/selftests/bench/,openmpi mpich gloo yield.so)
BENCH_TOOLS	:= $(addprefix build/selftests/bench/,spin burst quant)
BENCH_CFLAGS	:= -Wall -Wextra -Werror -O2 -g -I. -Iuapi -Iagent/lib

build/selftests/bench/openmpi build/selftests/bench/mpich: build/selftests/bench/%: \
		selftests/bench/mpi.c $(BENCH_OBJS)
	@mkdir -p $(@D)
	mpicc.$* -std=gnu11 $(BENCH_CFLAGS) -o $@ $^ -lm

build/selftests/bench/gloo: selftests/bench/gloo.cc $(BENCH_OBJS)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 $(BENCH_CFLAGS) -o $@ $^ -lgloo -lm -pthread

build/selftests/bench/yield.so: selftests/bench/yield.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(BENCH_CFLAGS) -shared -fPIC -o $@ $^

build/selftests/bench/spin: selftests/bench/spin.c
build/selftests/bench/burst: selftests/bench/burst.c build/agent/bench/usage.o
build/selftests/bench/quant: selftests/bench/quant.c build/agent/bench/usage.o \
	build/agent/bench/data.o build/agent/bench/op.o build/agent/lib/carry.o \
	build/agent/lib/narrow.o build/agent/lib/quant.o build/agent/lib/quant_avx2.o \
	build/agent/lib/quant_form.o
$(BENCH_TOOLS):
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(BENCH_CFLAGS) -o $@ $^ -lm

.PHONY: bench bench-bars bench-modes bench-insn check-insn record-insn bench-tools bench-rivals
bench-tools: $(BENCH_TOOLS)
selftests: bench-tools
bench-rivals: $(BENCH_RIVALS)

bench: deps
	@scripts/deps bench
	@$(MAKE) all bench-rivals
	@selftests/bench/run

bench-bars: deps
	@scripts/deps bench
	@$(MAKE) all bench-rivals
	@selftests/bench/bars

bench-modes: deps
	@scripts/deps bench
	@$(MAKE) all
	@selftests/bench/modes

bench-insn: deps
	@scripts/deps bench
	@$(MAKE) all selftests bench-rivals
	@selftests/bench/insn

check-insn: deps
	@$(MAKE) all selftests
	@selftests/bench/insn --check

record-insn: deps
	@$(MAKE) all selftests
	@selftests/bench/insn --record
