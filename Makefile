# make            check + test            make demo     a story on a real Neo4j         make serve   the service on loopback
# make test-long  what takes minutes      make bench    numbers beside their targets    make relock  the lock files anew
# make eval       the corpus, scored      make train    the small model of kinds, anew
# make test-browser   Neo4j Browser in a Chromium (apt-get install chromium fonts-wqy-microhei)
# Needs make and Python 3.11 or later; everything else comes into .venv by requirements.lock. Choose the Python with PYTHON=...

PYTHON ?= $(firstword $(foreach name,python3 python3.13 python3.12 python3.11,$(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $(name))))
PYTEST_ARGS ?=
RELOCK_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
STAMP_BGE := $(VENV)/.installed-bge
STAMP_BROWSER := $(VENV)/.installed-browser
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input

.DEFAULT_GOAL := all
.PHONY: all venv demo serve check format test test-long test-bge test-browser bench bench-import eval train relock relock-python relock-neo4j

all: check test

venv: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed; none was found. Set PYTHON=/path/to/python." >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q --require-hashes -r requirements.lock
	$(PIP) install -q --no-deps --no-build-isolation -e .
	@touch $@

$(STAMP_BGE): $(STAMP) requirements-bge.lock
	$(PIP) install -q --require-hashes -r requirements-bge.lock
	@touch $@

$(STAMP_BROWSER): $(STAMP) requirements-browser.lock
	$(PIP) install -q --require-hashes -r requirements-browser.lock
	@touch $@

demo: $(STAMP)
	$(BIN)/graphmem demo

serve: $(STAMP)
	$(BIN)/graphmem serve

check: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(STAMP)
	$(BIN)/python -m pytest -q $(PYTEST_ARGS)

test-long: $(STAMP)
	$(BIN)/python -m pytest -q -m long -n 2 $(PYTEST_ARGS)

test-bge: $(STAMP_BGE)
	$(BIN)/python -m pytest -q -m bge $(PYTEST_ARGS)

test-browser: $(STAMP_BROWSER)
	$(BIN)/python -m pytest -q -m browser $(PYTEST_ARGS) tests/browser

bench: $(STAMP)
	$(BIN)/python -m bench

bench-import: $(STAMP)
	$(BIN)/python -m bench.importing --rows $(or $(ROWS),100000) --users $(or $(USERS),1000) --kills $(or $(KILLS),0)

eval: $(STAMP)
	$(BIN)/python scripts/scores.py

train: $(STAMP)
	$(BIN)/python scripts/train.py

# The locks hold names, versions and hashes, never an address. RELOCK_ARGS=-U takes newer versions; only relock-neo4j needs Maven.
UV_LOCK := $(BIN)/uv pip compile pyproject.toml -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate

relock: relock-python relock-neo4j

relock-python: $(STAMP)
	$(UV_LOCK) --extra local --extra dev $(RELOCK_ARGS) -o requirements.lock
	$(UV_LOCK) -c requirements.lock $(RELOCK_ARGS) -o requirements-serve.lock
	$(UV_LOCK) --extra local --extra dev --extra bge -c requirements.lock -P torch==2.13.0 $(RELOCK_ARGS) -o requirements-bge.lock
	$(BIN)/uv pip compile -q --group pyproject.toml:browser --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --no-annotate -c requirements.lock $(RELOCK_ARGS) -o requirements-browser.lock

relock-neo4j: $(STAMP)
	$(BIN)/python scripts/relock_neo4j.py
