# Everything happens in .venv, which `make` makes itself. It needs git, make and Python 3.11 or newer.

VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --quiet --disable-pip-version-check
RUNS := $(VENV)/.runs
DEVELOPS := $(VENV)/.develops

.PHONY: help run test check lint types format bench soak pictures clean
.DEFAULT_GOAL := help

help:
	@echo "make run      open the demo (TRACE=file opens a trace of yours)"
	@echo "make test     all tests (ARGS='-k steps' for some)"
	@echo "make check    what CI runs: lint, types, tests"
	@echo "make lint     ruff, its formatting, who imports whom"
	@echo "make types    mypy --strict"
	@echo "make format   put the code into shape"
	@echo "make bench    time, memory and lag of opening large traces, beside other readers"
	@echo "make soak     the property tests, many more examples"
	@echo "make pictures draw the screens of docs/ anew"
	@echo "make clean    remove .venv and everything built"

run: $(RUNS)
	@$(VENV)/bin/traceview $(if $(TRACE),"$(TRACE)",demo)

test: $(DEVELOPS)
	@$(PYTHON) -m pytest -n 2 $(ARGS)

check: lint types test

lint: $(DEVELOPS)
	@$(PYTHON) -m ruff check --quiet
	@$(PYTHON) -m ruff format --check --quiet
	@$(VENV)/bin/lint-imports --no-logo

types: $(DEVELOPS)
	@$(PYTHON) -m mypy

format: $(DEVELOPS)
	@$(PYTHON) -m ruff check --fix --quiet
	@$(PYTHON) -m ruff format --quiet

bench: $(RUNS)
	@$(PYTHON) benchmarks/ingest.py $(ARGS)
	@$(PYTHON) benchmarks/lag.py

soak: $(DEVELOPS)
	@$(PYTHON) -m pytest -n 2 --hypothesis-profile=soak tests/property $(ARGS)

pictures: $(RUNS)
	@$(PYTHON) docs/pictures/make.py

clean:
	@rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(RUNS): pyproject.toml $(PYTHON)
	@echo "installing traceview into $(VENV)"
	@$(PIP) install --editable .
	@touch $@

$(DEVELOPS): pyproject.toml $(PYTHON)
	@echo "installing traceview and its tools into $(VENV)"
	@$(PIP) install --editable '.[dev]'
	@touch $@ $(RUNS)

# The first Python that is new enough and answers; a name may stand on the path without a Python behind it.
$(PYTHON):
	@found=; for python in python3.13 python3.12 python3.11 python3.14 python3 python; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	    echo "traceview needs Python 3.11 or newer; python3 here is: $$(python3 --version 2>/dev/null || echo none)." >&2; \
	    echo "Install one (Debian, Ubuntu: apt install python3 python3-venv) and run make again." >&2; exit 1; \
	fi; \
	if ! $$found -c 'import ensurepip, venv' 2>/dev/null; then \
	    version=$$($$found -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
	    echo "$$found has no venv module (it needs ensurepip too)." >&2; \
	    echo "Install it (Debian, Ubuntu: apt install python$$version-venv; Fedora: dnf install python3-pip)" >&2; \
	    echo "and run make again." >&2; exit 1; \
	fi; \
	echo "making $(VENV) with $$($$found --version)"; \
	$$found -m venv --clear $(VENV)
