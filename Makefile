# SPDX-License-Identifier: GPL-2.0
#
#   make               the module, the library and the programs, into build/
#   make check         every test, the VM's included (installs what is missing)
#   make check-unit    the unit tests
#   make check-model   the model checker, and its mutations
#   make fuzz          all fuzz targets, in SECONDS=60
#   make check-vm      the tests in the VM, on User-mode Linux where they can be;
#                      TEST=NAME runs one of them, KERNEL=NAME on that kernel
#   make check-debug   the same on a kernel with KASAN, lockdep and so on
#   make check-virtual the tests that have exact bars, in virtual time
#   make chaos         random worlds in virtual time: SEEDS=10, SEED=N
#   make check-docs    what README and the man pages say is done
#   make check-fresh   README's set-up on a Debian 12 with git and make alone (as root, with
#                      debootstrap); FULL=1: make check there
#   make check-kcsan   some on a kernel that looks for data races
#   make check-kernels all on Debian's 6.1, 6.12 and 7.x, some on PREEMPT_RT
#   make lint          the static checks
#   make soak          random groups, networks and deaths in the VM, for
#                      MINUTES=5
#   make fuzz-vm       the fuzzing test in the VM for MINUTES=5
#   make bench         all-reduces by gagg and by other systems, side by side in
#                      the VM; QUICK=1: in five minutes; ENGINE=uml: in User-mode
#                      Linux and natively; ENGINE=virtual: of a network alone
#   make profile       where the time goes, of TEST=NAME or BENCH=NAME
#   make bench-modes   time to accuracy under every sync mode
#   make search-modes  rates and momenta of modes for it
#   make bench-insn    instructions of gagg and of others
#   make check-insn    gagg's, against what is recorded
#   make demo          four hosts on loopback exchange gradients, without root or VM
#   make demo-vm       the same with the module, on Debian's kernel in QEMU
#   make vm-shell      a shell in the VM, with the four hosts up
#   make picture       the picture of the architecture, from its text
#   make install       DESTDIR, PREFIX, LIBDIR, UNITDIR; MODULE=no: without the module
#   make uninstall     what that has made, with the same DESTDIR and PREFIX
#   make deps          the Debian packages that all of this requires, and a faster QEMU
#   make help          prints this
#
# The module is built for the kernel that runs, if its headers are here, else for Debian's
# stock kernel, if that is in build/kernels. KERNEL=NAME picks one of `vm/kernels list`;
# KDIR=DIR names the headers.

KERNEL	?=
KDIR	?= $(if $(KERNEL),$(shell vm/kernels kdir $(KERNEL) 2>/dev/null),$(or \
	     $(realpath /lib/modules/$(shell uname -r)/build),$(shell vm/kernels kdir stock 2>/dev/null)))
MODULE	?=
PREFIX	?= /usr/local
LIBDIR	?= $(PREFIX)/lib
# the units' folder; the distribution says where its own is
UNITDIR	?= $(or $(if $(filter /usr,$(PREFIX)),$(shell pkg-config \
	     --variable=systemdsystemunitdir systemd 2>/dev/null)),$(PREFIX)/lib/systemd/system)
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
-include selftests/chaos/chaos.mk

# --- the module ---------------------------------------------------------
# Kbuild writes next to its sources, so it gets a tree of links to them, one
# for each kernel. The lock is for two makes in one checkout.
KARCH	:= $(if $(shell grep -sx CONFIG_UML=y $(KDIR)/.config),um,$(shell uname -m))
KREL	:= $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
		   $(KDIR)/include/generated/utsrelease.h 2>/dev/null)
KBUILD	= build/kmod/$(KREL)
no_headers = install linux-headers-$(shell uname -r), or name them: KDIR=DIR; or do without: MODULE=no
# no BTF: it takes the kernel's vmlinux, which headers lack
KFLAGS	= ARCH=$(KARCH) W=1 KCFLAGS=-Werror CONFIG_DEBUG_INFO_BTF_MODULES= $(KARGS)

.PHONY: module
module:
	@test -n "$(KREL)" || { echo "no kernel headers$(KERNEL:%= for '%'): $(if $(KERNEL),vm/kernels get $(KERNEL),$(no_headers))" >&2; exit 1; }
	@mkdir -p $(KBUILD)
	@cp -rsf $(CURDIR)/Kbuild $(CURDIR)/kmod $(CURDIR)/uapi $(KBUILD)/
	@find $(KBUILD) -xtype l -delete
	+@flock $(KBUILD) $(MAKE) -C $(KDIR) M=$(CURDIR)/$(KBUILD) $(KFLAGS) modules

# --- everything ---------------------------------------------------------
all: $(if $(filter no,$(MODULE)),,module) agent

.PHONY: help
help:
	@sed -n '3,/^$$/s/^# \{0,3\}//p' Makefile

# The module is one for the kernel that runs, unless another is named.
named	= $(KERNEL)$(filter-out file,$(origin KDIR))
.PHONY: install uninstall install-fits
install-fits:
	@test -n "$(filter no,$(MODULE))$(named)" || test "$(KREL)" = "$$(uname -r)" || \
		{ echo "no headers of the kernel that runs: $(no_headers)" >&2; exit 1; }

install: install-fits all
	@DESTDIR="$(DESTDIR)" scripts/install "$(PREFIX)" "$(LIBDIR)" "$(UNITDIR)" \
		$(if $(filter no,$(MODULE)),,"$(KREL)" "$(KBUILD)/gagg.ko")

uninstall:
	@DESTDIR="$(DESTDIR)" scripts/install --remove "$(PREFIX)"

.PHONY: clean
clean:
	rm -rf build

.PHONY: deps
deps:
	@scripts/deps
	@vm/get-qemu || echo "deps: going on with the QEMU that is installed" >&2

# --- tests --------------------------------------------------------------
# a kernel by its name, if it is not there yet, and the module for it
kernel-%:
	@vm/kernels get $*
	+@$(MAKE) KERNEL=$* module

# What a check on several kernels requires. One after the other: building a kernel uses
# all processors.
prepare	= for kernel in $(1); do $(MAKE) -j$(nproc) kernel-$$kernel || exit; done

# A kernel that looks for mistakes is slow: a check runs there tests of all that the
# module does, not of every case; check-debug runs all.
TESTS_debug = allreduce death unload locks device nomem faults fuzz store copies

# The module is not needed by the unit tests.
.PHONY: check check-unit check-model check-vm check-debug check-virtual check-docs \
	check-fresh lint
check:
	@echo "1/4 packages"
	@$(MAKE) deps
	@echo "2/4 four kernels for guests, and the module for each"
	@$(call prepare,stock uml uml-virtual uml-debug)
	@echo "3/4 programs and tests"
	@$(MAKE) -j$(nproc) all selftests
	@echo "4/4 tests, 30 to 60 min on 2 processors; a line as each ends"
	@selftests/run turn@machines turn@model turn@virtual static unit fuzz chaos turn@vm@uml \
		turn@docs $(TESTS_debug:%=turn@vm@uml-debug/%) stock

check-unit:
	@$(MAKE) -j$(nproc) unit-tests
	@selftests/run unit

check-model: selftests
	@selftests/run model

check-vm: agent selftests
	@$(call prepare,$$(selftests/run --kernels $(or $(TEST:%=vm/%),vm)))
	@selftests/run $(or $(TEST:%=vm/%),vm)

check-debug:
	@$(MAKE) KERNEL=uml-debug check-vm

check-virtual: agent selftests
	@$(call prepare,uml-virtual)
	@selftests/run $(or $(TEST:%=virtual/%),virtual)

check-docs: agent
	@$(call prepare,uml)
	@selftests/run docs

check-fresh:
	@selftests/fresh/fresh.sh

lint:
	@selftests/run static

MINUTES	?= 5
.PHONY: soak fuzz-vm
soak: for_minutes = soak
soak: for_kernel = $(or $(KERNEL),uml)
fuzz-vm: for_minutes = 54-fuzz
fuzz-vm: for_kernel = $(or $(KERNEL),uml-debug)
soak fuzz-vm: agent selftests
	@$(call prepare,$(for_kernel))
	@vm/run --kernel $(for_kernel) --timeout $$(($(MINUTES) * 60 + 600)) -- \
		env KERNEL=$(for_kernel) MINUTES=$(MINUTES) $(SEED:%=SEED=%) \
		selftests/vm/$(for_minutes).sh

# Emulated, a kernel that looks for races is slow: tests of all that the module does,
# not of every case. TEST=NAME runs others.
TESTS_kcsan = allreduce float desync progress straggler death unload netlink device \
	      datagrams gaggd store copies
.PHONY: check-kcsan
check-kcsan: deps agent selftests
	@$(call prepare,kcsan)
	@selftests/run $(addprefix vm@kcsan/,$(or $(TEST),$(TESTS_kcsan)))

# The kernels for which gagg is meant. PREEMPT_RT has its own in part.
KERNELS	= stock 6.12 7 rt uml-6.1
TESTS_rt = boot allreduce corrupt death unload device datagrams desync netlink \
	   float progress straggler gaggd

.PHONY: check-kernels
check-kernels: deps agent selftests
	@$(call prepare,$(KERNELS))
	@status=0; for kernel in $(KERNELS); do \
		echo "kernel $$kernel: $$(vm/kernels release $$kernel)"; \
		case $$kernel:$(TEST) in \
		rt:)	tests="$(addprefix vm@rt/,$(TESTS_rt))" ;; \
		*:)	tests=vm@$$kernel ;; \
		*)	tests="$(addprefix vm@$$kernel/,$(TEST))" ;; \
		esac; \
		selftests/run $$tests || status=1; \
	done; exit $$status

# --- by hand ------------------------------------------------------------
.PHONY: picture demo demo-vm vm-shell
picture:
	scripts/picture Documentation/architecture.pic >Documentation/architecture.svg

demo:
	+@agent/examples/demo.sh

demo-vm:
	@echo "1/4 packages"
	@scripts/deps build vm
	@vm/get-qemu || echo "demo-vm: going on with the QEMU that is installed" >&2
	@echo "2/4 build"
	@$(MAKE) -j$(nproc) agent
	@echo "3/4 kernel $(or $(KERNEL),stock), and the module for it"
	@$(call prepare,$(or $(KERNEL),stock))
	@echo "4/4 four hosts in a VM, which takes minutes where it is emulated"
	@vm/run --kernel $(or $(KERNEL),stock) -- agent/examples/demo-vm.sh

vm-shell:
	@test -t 0 && test -t 1 || { echo "vm-shell: this is no terminal" >&2; exit 1; }
	@$(MAKE) -j$(nproc) agent
	@$(call prepare,$(or $(KERNEL),stock))
	@vm/shell --kernel $(or $(KERNEL),stock)
