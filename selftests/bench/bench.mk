# SPDX-License-Identifier: GPL-2.0
#
# Measuring; see Documentation/performance.md.
#
#   make bench         side by side in the VM: build/bench.json, a table, plots.
#                      QUICK=1, REPS=N and others: selftests/bench/run

BENCH_RIVALS	:= $(addprefix build/selftests/bench/,openmpi mpich gloo)
BENCH_CFLAGS	:= -Wall -Wextra -Werror -O2 -g -I. -Iuapi -Iagent/lib

build/selftests/bench/openmpi build/selftests/bench/mpich: build/selftests/bench/%: \
		selftests/bench/mpi.c $(BENCH_OBJS)
	@mkdir -p $(@D)
	mpicc.$* -std=gnu11 $(BENCH_CFLAGS) -o $@ $^ -lm

build/selftests/bench/gloo: selftests/bench/gloo.cc $(BENCH_OBJS)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 $(BENCH_CFLAGS) -o $@ $^ -lgloo -lm -pthread

.PHONY: bench bench-rivals
bench-rivals: $(BENCH_RIVALS)

bench: deps
	@scripts/deps bench
	@$(MAKE) all bench-rivals
	@selftests/bench/run
