# Every target sets up its own environment in .venv; PYTHON names the interpreter to make it from (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench bench-gpu docs clean
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

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks --json build/benchmarks.json

bench-gpu: $(VENV)/.installed-cuda,bench
	$(BIN)/python -m benchmarks.gpu --json build/benchmarks-gpu.json

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
