# Every command is one sentence in `make help`; a line `##@ title` opens a section of it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV := .venv
RUN := $(VENV)/bin/python
READY := $(VENV)/.ready
NEEDS_SPARK := tests/spark tests/interop
# Tables of other engines lie outside the repository, and are read before a review rather than at every turn.
LATER := $(NEEDS_SPARK) tests/foreign
# Every file of tests in one process, as many processes as there are cores.
FAST := -m pytest tests $(LATER:%=--ignore=%) -n auto --dist loadfile
# The harness of the benchmark is written densely on purpose; what is checked of it is what speaks to lakewright.
CODE := src tests tools $(wildcard examples bench/ours.py bench/ground.py)

NO_PYTHON := lakewright needs Python 3.11 or newer with its venv module (on Debian python3-venv): install it and run make again
NO_JAVA := Spark needs Java 17 or newer: install a JDK, put java on the PATH or point JAVA_HOME at it, and run make again

##@ Start here

.PHONY: help
help: ## List every command.
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: setup
setup: java $(READY) ## Create .venv with lakewright and everything its development needs; again only when that has changed.

.PHONY: demo
demo: setup ## See what lakewright does, on a small lakehouse of its own.
	@$(RUN) examples/demo.py

##@ Every day

.PHONY: fast
fast: $(READY) ## Run the tests that need no Spark, in under a minute.
	@$(RUN) $(FAST)

.PHONY: check
check: $(READY) ## Run what CI runs first: format, lint, types, architecture and fast tests; list what has grown large.
	@$(RUN) -m ruff format --check --output-format concise $(CODE)
	@$(RUN) -m ruff check --output-format concise $(CODE)
	@$(RUN) -m mypy --strict src
	@$(RUN) $(FAST)
	@$(RUN) tools/size_report.py

.PHONY: format
format: $(READY) ## Format the code and mend what the linter can mend.
	@$(RUN) -m ruff check --fix-only --quiet $(CODE)
	@$(RUN) -m ruff format $(CODE)

.PHONY: test
test: setup ## Run all tests but those with other engines, and list the slowest.
	@$(RUN) $(FAST)
	@$(RUN) -m pytest tests/foreign tests/spark --durations=15

##@ Against others

.PHONY: interop
interop: setup ## Let other engines judge the tables that lakewright writes, and read theirs.
	@$(RUN) -m pytest tests/interop --durations=15

.PHONY: bench
bench: setup ## Measure lakewright beside other libraries, on the same rows.
	@$(RUN) bench/ground.py

##@ Housekeeping

.PHONY: clean
clean: ## Remove the virtual environment and every cache.
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis spark-warehouse metastore_db derby.log
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: java
java:
	$(if $(filter ok,$(shell tools/find_java.sh)),@:,$(error $(NO_JAVA)))

$(READY): pyproject.toml constraints.txt
	$(if $(PYTHON),,$(error $(NO_PYTHON)))
	@PYTHON="$(PYTHON)" tools/set_up.sh $(VENV)
	@touch $@

PYTHON = $(shell tools/find_python.sh)
