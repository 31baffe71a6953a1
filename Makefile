# Two commands do everything on a fresh machine: make demo, make test.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
NATIVE := $(wildcard native/CMakeLists.txt native/src/*.* native/src/*/*)

.PHONY: setup demo test test-slow test-peers sanitize check docs board results clean mutants torture lock sbom

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt $(NATIVE)
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,evaluate]' \
	  --config-settings=cmake.define.SIEVE_STRICT=ON
	touch $@

# What translation needs, and no more: a minute on a fresh machine, most of it the compiler's.
DEMO := $(VENV)/.translates

$(DEMO):
	test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -c 'import sieve._native' 2>/dev/null || \
	  $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable .
	touch $@

demo: $(DEMO)
	$(BIN)/python recipes/demo/translate.py

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy --python-version 3.10 src
	$(BIN)/mypy --python-version 3.13 src
	$(BIN)/lint-imports --no-cache
	$(BIN)/python release/supply.py audit
	$(BIN)/python release/licences.py

test: check
	$(BIN)/pytest

# The page is tested in Debian's chromium; without it those tests are skipped.
test-slow: setup
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,evaluate,browser,docs,release,ray]'
	$(BIN)/pytest -m slow

# Beside other toolkits, on real models. What they need is installed with pip into environments and
# kept in SIEVE_PEERS, by default ~/.cache/sieve-peers; what cannot be had is skipped with the reason.
test-peers: setup
	$(BIN)/pytest -m peers tests/peers

# The native core under sanitizers, each time built into a folder of its own: address and undefined
# behaviour, then threads. Their libraries come first in every process: Python is not built with them.
# Nor are torch and sentencepiece: their threads would be reported (OMP_NUM_THREADS, races.supp).
sanitize: sanitize-address sanitize-thread

sanitize-address: SANITIZERS := address,undefined
sanitize-address: TESTED := tests/native tests/parity
sanitize-thread: SANITIZERS := thread
sanitize-thread: TESTED := $(foreach name,loading processes properties same_bytes,tests/native/test_$(name).py)

sanitize-%: setup
	$(BIN)/pip install --quiet --upgrade --no-deps --target build/$@ . \
	  --config-settings=cmake.define.SIEVE_SANITIZE=$(SANITIZERS) --config-settings=build-dir=build/$@-objects
	LD_PRELOAD="$$(g++ -print-file-name=lib$(if $(filter thread,$*),t,a)san.so) $$(g++ -print-file-name=libstdc++.so)" \
	  OMP_NUM_THREADS=1 ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	  TSAN_OPTIONS=suppressions=$(CURDIR)/tests/native/races.supp \
	  SIEVE_NATIVE_MODULE="$$(ls $(CURDIR)/build/$@/sieve/_native*.so)" \
	  PYTHONPATH=$(CURDIR)/tests/native/override \
	  $(BIN)/pytest --capture=sys $(TESTED)

# The site, in build/site; a broken link is an error.
docs: setup
	$(BIN)/pip install --quiet --constraint constraints.txt --editable '.[dev,evaluate,docs]'
	$(BIN)/mkdocs build --quiet

# Beside every engine that installs, on one core: docs/board.md, docs/results/board.json. BOARD=--quick is short.
board: setup
	$(BIN)/python benchmarks/board.py $(BOARD)

# docs/results.md and docs/replication.md from the measurements in docs/results.
results: setup
	$(BIN)/python benchmarks/render_results.py
	$(BIN)/python benchmarks/replication.py

# How many small changes of the source the tests notice (docs/results/mutants.json); resumes when rerun.
mutants: setup
	$(BIN)/python benchmarks/mutants.py $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(JOBS),--jobs $(JOBS))

# What docs/guarantees.md promises, attacked for up to an hour: make torture PART=requests|models|strings|
# kills|soak|sanitizers|coverage. Each part resumes when rerun and joins docs/results/torture.json.
torture: setup
	$(BIN)/python benchmarks/torture.py $(PART) $(if $(JOBS),--jobs $(JOBS))

# The packages of the container with their hashes, and the bill of materials of a release.
lock sbom: setup
	$(BIN)/python release/supply.py $@

clean:
	rm -rf $(VENV) .bench-venv build demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
