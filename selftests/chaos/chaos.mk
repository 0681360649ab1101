# SPDX-License-Identifier: GPL-2.0
#
# make chaos SEEDS=N: random worlds in virtual time; SEED=n repeats one.

SEEDS	?= $(if $(SEED),1,10)

.PHONY: chaos
chaos:
	@$(MAKE) kernel-uml-virtual agent selftests
	@$(SEED:%=SEED=%) selftests/chaos/chaos.sh --seeds $(SEEDS)
