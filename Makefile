# SPDX-License-Identifier: GPL-2.0
#
#   make               the module, the library and the programs, into build/
#   make check         every test, the VM's included (installs what is missing)
#   make check-unit    the unit tests, in seconds
#   make check-model   the model checker, and its mutations
#   make fuzz          all fuzz targets, in SECONDS=60
#   make check-vm      the tests in the VM; TEST=NAME runs one of them
#   make check-debug   some of these tests on a kernel with KASAN, lockdep and so on
#   make check-kcsan   some on a kernel that looks for data races
#   make check-kernels some on Debian's stock 6.1, 6.12 and PREEMPT_RT kernels
#   make lint          the static checks
#   make soak          random groups, networks and deaths in the VM, for
#                      MINUTES=5
#   make fuzz-vm       the fuzzing test in the VM for MINUTES=5; KERNEL=debug
#   make bench         all-reduces by gagg and by other systems, side by side in
#                      the VM; QUICK=1: in five minutes
#   make bench-modes   time to accuracy under every sync mode
#   make bench-insn    instructions of gagg and of others
#   make check-insn    gagg's, against what is recorded
#   make demo          four hosts in a VM exchange gradients
#   make vm-shell      a shell in the VM, with the four hosts up
#   make install       DESTDIR, PREFIX
#   make deps          the Debian packages that all of this takes, and a faster QEMU
#
# KERNEL=NAME picks one of `vm/kernels list`; KDIR=DIR names the headers to
# build the module for.

KERNEL	?= stock
KDIR	?= $(shell vm/kernels kdir $(KERNEL) 2>/dev/null)
PREFIX	?= /usr/local
DESTDIR	?=
TEST	?=
export KERNEL
nproc	= $(shell nproc)

MAKEFLAGS += --no-print-directory

# The first target; what "all" consists of is known at the end.
.PHONY: all agent selftests
all:

-include agent/agent.mk
-include selftests/selftests.mk

# --- the module ---------------------------------------------------------
# Kbuild writes next to its sources, so it gets a tree of links to them, one
# for each kernel. The lock is for two makes in one checkout.
KARCH	:= $(if $(shell grep -sx CONFIG_UML=y $(KDIR)/.config),um,$(shell uname -m))
KREL	:= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
		   $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KBUILD	= build/kmod/$(KREL)
# no BTF: it takes the kernel's vmlinux, which headers lack
KFLAGS	= ARCH=$(KARCH) W=1 KCFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES= $(KARGS)

.PHONY: module
module:
	@test -n "$(KREL)" || { echo "no kernel headers: make deps" >&2; exit 1; }
	@mkdir -p $(KBUILD)
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/uapi $(KBUILD)/
	@find $(KBUILD) -xtype l -delete
	+@flock $(KBUILD) $(MAKE) -C $(KDIR) M=$(CURDIR)/$(KBUILD) $(KFLAGS) modules

# --- everything ---------------------------------------------------------
all: module agent

.PHONY: install
install: all
	scripts/install "$(DESTDIR)" "$(PREFIX)" "$(KREL)" "$(KBUILD)"

.PHONY: clean
clean:
	rm -rf build

.PHONY: deps
deps:
	@scripts/deps
	@vm/get-qemu || echo "deps: going on with the QEMU that is installed" >&2

# --- tests --------------------------------------------------------------
# Kernels that look for mistakes are slow, emulated ones above all: tests of all
# that the module does, not of every case. TEST=NAME runs others.
TESTS_debug = allreduce death unload device nomem faults fuzz store copies
TESTS_kcsan = allreduce float desync progress straggler death unload netlink device \
	      datagrams gaggd store copies

# The module is not needed by the unit tests.
.PHONY: check check-unit check-model check-vm lint
check: deps
	@vm/build-kernel debug
	@$(MAKE) -j$(nproc) all selftests
	@$(MAKE) -j$(nproc) KERNEL=debug module
	@selftests/run machines model static unit fuzz vm $(TESTS_debug:%=vm@debug/%)

check-unit: selftests
	@selftests/run unit

check-model: selftests
	@selftests/run model

check-vm: all selftests
	@selftests/run $(or $(TEST:%=vm/%),vm)

lint:
	@selftests/run static

MINUTES	?= 5
.PHONY: soak fuzz-vm
soak: for_minutes = soak
fuzz-vm: for_minutes = 54-fuzz
soak fuzz-vm: all selftests
	@vm/run --kernel $(KERNEL) --timeout $$(($(MINUTES) * 60 + 600)) -- \
		env MINUTES=$(MINUTES) $(SEED:%=SEED=%) selftests/vm/$(for_minutes).sh

.PHONY: check-debug check-kcsan
check-debug check-kcsan: check-%: deps
	@vm/build-kernel $*
	@$(MAKE) KERNEL=$* all selftests
	@selftests/run $(addprefix vm@$*/,$(or $(TEST),$(TESTS_$*)))

# Debian's kernels for which gagg is meant. Stock is tested in full by check.
KERNELS	= stock 6.12 rt
TESTS_kernels = boot allreduce corrupt death unload device datagrams desync netlink \
		float progress straggler gaggd

.PHONY: check-kernels
check-kernels: deps
	@for kernel in $(filter-out stock,$(KERNELS)); do vm/get-kernel $$kernel || exit; done
	@status=0; for kernel in $(KERNELS); do \
		echo "kernel $$kernel: $$(vm/kernels release $$kernel)"; \
		$(MAKE) KERNEL=$$kernel all selftests && \
		selftests/run $(addprefix vm@$$kernel/,$(or $(TEST),$(TESTS_kernels))) || \
			status=1; \
	done; exit $$status

# --- the VM by hand -----------------------------------------------------
.PHONY: demo vm-shell
demo: deps
	@$(MAKE) all
	@vm/run --kernel $(KERNEL) -- agent/examples/demo.sh

vm-shell: all
	@vm/shell --kernel $(KERNEL)
