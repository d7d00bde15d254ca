# Every target sets up its own environment in .venv; PYTHON names the interpreter to make it from (3.11 or newer).
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test test-oldest lint exact fuzz lock licences dist chaos soak bench bench-gpu docs clean
.SECONDARY:

# An extra is installed once, and again when pyproject.toml changes.
$(VENV)/.installed-%: pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the package with its extra '$*' into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@

demo: $(VENV)/.installed-envs,explore
	$(BIN)/vmg demo

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# What the tests do in small, for minutes. TRUST=results/trust keeps the counts for the docs.
SECONDS ?= 300
KILLS ?= 500
SOLVES ?= 1000000
SEED ?= 0
TRUST ?= build/trust

chaos: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/chaos.py --kills $(KILLS) --seed $(SEED) --json $(TRUST)/chaos.json

fuzz: $(VENV)/.installed-dev
	PYTHONPATH=tests/learn $(BIN)/python tests/trust/fuzz.py --seconds $(SECONDS) --seed $(SEED) --json $(TRUST)/fuzz.json

soak: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/soak.py --solves $(SOLVES) --seed $(SEED) --json $(TRUST)/soak.json

# The oldest versions that pyproject.toml allows, in an environment of their own; what they bring along is new.
OLDEST := build/oldest
$(OLDEST)/.installed: pyproject.toml $(VENV)/.installed-release
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(OLDEST)
	$(BIN)/uv pip install --quiet --python $(OLDEST)/bin/python --resolution lowest-direct --editable '.[envs,explore,logs,tables,view]'
	$(BIN)/uv pip install --quiet --python $(OLDEST)/bin/python pytest pytest-xdist hypothesis
	@touch $@

# The oldest OGBench draws when it is made; without a screen that leaves a window behind that was never opened.
test-oldest: $(OLDEST)/.installed
	NUMBA_CACHE_DIR=$(OLDEST)/numba $(OLDEST)/bin/python -m pytest -n auto --dist loadfile -W ignore::DeprecationWarning \
		-W "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning" \
		tests/act tests/agent tests/commands tests/data tests/evaluation tests/goals tests/graph tests/learn

# Everything computed twice, for so many seconds: by the package, and in exact fractions.
exact: $(VENV)/.installed-dev
	PYTHONPATH=tests/graph $(BIN)/python tests/trust/exact.py --seconds $(SECONDS) --seed $(SEED) --json $(TRUST)/exact.json

# The versions that development uses, with their hashes: pip install --require-hashes -r requirements-dev.txt
lock: $(VENV)/.installed-release
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --generate-hashes --no-annotate \
		--custom-compile-command "make lock" --output-file requirements-dev.txt pyproject.toml

# Under which licences the dependencies stand.
licences: $(VENV)/.installed-dev
	$(BIN)/python tests/trust/licences.py --json results/trust/licences.json

# The wheel, and beside it what it brings along when it is installed (CycloneDX).
dist: $(VENV)/.installed-release
	rm -rf dist build/installed
	$(BIN)/python -m build --wheel --outdir dist
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python build/installed
	$(BIN)/uv pip install --quiet --python build/installed/bin/python dist/*.whl
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --of JSON \
		--output-file "$$(echo dist/*.whl | sed 's/-py3-none-any.whl/.cdx.json/')" build/installed/bin/python

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks --json build/benchmarks.json

bench-gpu: $(VENV)/.installed-cuda,bench
	$(BIN)/python -m benchmarks.gpu --json build/benchmarks-gpu.json

docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
