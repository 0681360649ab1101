# SPDX-License-Identifier: GPL-2.0
#
# Measuring; see Documentation/measuring.md.
#
#   make bench         side by side in the VM: build/bench.json, a table, plots.
#                      QUICK=1, REPS=N and others: selftests/bench/run
#     ENGINE=uml       in User-mode Linux, and natively beside it:
#                      build/bench-uml.json, a table; selftests/bench/uml
#       NCCL=DIR CUDA=DIR  natively NCCL too
#     ENGINE=virtual   of a network alone, in virtual time: build/bench-virtual.json, a
#                      table; selftests/bench/virtual
#   make profile       where the time goes, of TEST=NAME or BENCH=NAME:
#                      build/profile/; scripts/profile
#   make bench-bars    comparisons that need networks and groups of their own:
#                      build/bars.json, a table; BARS=, REPS= and others:
#                      selftests/bench/bars
#   make bench-modes   time to accuracy under every sync mode: build/modes.json, a
#                      table, loss curves; SEEDS="1 2" and others: modes.sh
#   make search-modes  chooses the rate and the momentum of each mode for it:
#                      selftests/bench/modes.conf, build/modes/search.md
#   make bench-insn    instructions, in a guest whose clock counts them:
#                      build/bench-insn.json
#   make check-insn    gagg's own of these, against selftests/bench/insn.json;
#                      takes no packages of other systems, and is part of "make
#                      check": selftests/machines/insn.sh
#   make record-insn   records them there

BENCH_RIVALS	:= $(addprefix build/selftests/bench/,openmpi mpich gloo yield.so)
BENCH_TOOLS	:= $(addprefix build/selftests/bench/,spin burst quant)
BENCH_CFLAGS	:= -Wall -Wextra -Werror -O2 -g -I. -Iuapi -Iagent/lib

# NCCL is no package of Debian, and takes a GPU: NCCL=FOLDER, and CUDA=FOLDER if that is
# another one, each with include/, and lib/ or lib64/
ifneq ($(NCCL),)
BENCH_RIVALS	+= build/selftests/bench/nccl
endif

build/selftests/bench/openmpi build/selftests/bench/mpich: build/selftests/bench/%: \
		selftests/bench/mpi.c $(BENCH_OBJS)
	@mkdir -p $(@D)
	mpicc.$* -std=gnu11 $(BENCH_CFLAGS) -o $@ $^ -lm

build/selftests/bench/gloo: selftests/bench/gloo.cc $(BENCH_OBJS)
	@mkdir -p $(@D)
	$(CXX) -std=gnu++17 $(BENCH_CFLAGS) -o $@ $^ -lgloo -lm -pthread

build/selftests/bench/nccl: selftests/bench/nccl.c $(BENCH_OBJS)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(BENCH_CFLAGS) $(foreach d,$(sort $(NCCL) $(CUDA)),-isystem $d/include \
		-L$d/lib -L$d/lib64 -Wl,-rpath,$d/lib:$d/lib64) -o $@ $^ \
		-l:libnccl.so.2 -lcudart -lm

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

# what "make bench ENGINE=NAME" takes and runs: a kernel (of vm/kernels), a program
ENGINE		?= qemu
BENCH_qemu	:= $(or $(KERNEL),stock) run
BENCH_uml	:= uml uml
BENCH_virtual	:= uml-virtual virtual
BENCH_ENGINE	= $(or $(BENCH_$(ENGINE)),$(error ENGINE=$(ENGINE): qemu, uml and virtual are there))

.PHONY: bench bench-bars bench-modes search-modes bench-insn check-insn record-insn \
	bench-tools bench-rivals profile
bench-tools: $(BENCH_TOOLS)
selftests: bench-tools
bench-rivals: $(BENCH_RIVALS)

bench: kernel = $(firstword $(BENCH_ENGINE))
bench: deps
	@scripts/deps bench
	@vm/kernels get $(kernel)
	@$(MAKE) KERNEL=$(kernel) all bench-rivals
	@KERNEL=$(kernel) selftests/bench/$(lastword $(BENCH_ENGINE))

bench-bars: deps
	@scripts/deps bench
	@$(MAKE) KERNEL=$(or $(KERNEL),stock) all bench-rivals
	@selftests/bench/bars

search-modes: options = --search
bench-modes search-modes: deps
	@scripts/deps bench
	@vm/kernels get $(or $(KERNEL),uml-virtual)
	@$(MAKE) KERNEL=$(or $(KERNEL),uml-virtual) all
	@selftests/bench/modes $(options)

bench-insn: deps
	@scripts/deps bench
	@$(MAKE) KERNEL=$(or $(KERNEL),stock) all selftests bench-rivals
	@selftests/bench/insn

check-insn: deps
	@$(MAKE) KERNEL=$(or $(KERNEL),stock) all selftests
	@selftests/bench/insn --check

record-insn: deps
	@$(MAKE) KERNEL=$(or $(KERNEL),stock) all selftests
	@selftests/bench/insn --record

# BENCH=twin has no kernel but the host's
profile: deps
	@scripts/deps bench
	@scripts/deps profile
	@vm/kernels get uml
	@$(MAKE) KERNEL=uml all selftests bench-rivals
	@TEST="$(TEST)" BENCH="$(BENCH)" scripts/profile
