# Every target sets up its own environment in .venv; PYTHON names the interpreter to make it from (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint chaos soak bench bench-gpu docs clean
.SECONDARY:

# An extra is installed once, and again when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the package with its extra '$*' into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

demo: $(VENV)/.installed-envs,view
	$(BIN)/vmg demo

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile

# What the tests do in small, for minutes. TRUST=results/trust keeps the counts for the docs.
KILLS ?= 500
SOLVES ?= 1000000
SEED ?= 0
TRUST ?= build/trust

chaos: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/chaos.py --kills $(KILLS) --seed $(SEED) --json $(TRUST)/chaos.json

soak: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/soak.py --solves $(SOLVES) --seed $(SEED) --json $(TRUST)/soak.json

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks --json build/benchmarks.json

bench-gpu: $(VENV)/.installed-cuda,bench
	$(BIN)/python -m benchmarks.gpu --json build/benchmarks-gpu.json

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
