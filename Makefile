# make run    set up, then run a real program from end to end
# make test   set up, then run the tests
# make fuzz   the tests that take long, and random programs interpreted and compiled: make fuzz SEEDS=20000 TIME=3600
# make lint   style and types
# make bench  measurements against peers
# make gpu    checks and measurements on this machine's GPU, with the Python that is there (GPU_PYTHON=.., GPU_FLAGS="--only copy"); no set-up
# make docs   the pages about the library, from its comments; outputs in the other pages as they are now
# make site   the documentation as a site in build/site, with the playground; PYODIDE=FOLDER, SITE_FLAGS=--no-playground
# make dist-check   the package built, installed in a clean environment, and used
# make clean  remove everything that was built
#
# The set-up is a virtual environment in .venv, with sacpy installed in place. It is done once: stamp files
# remember it, and a change of pyproject.toml renews it. Another interpreter: make PYTHON=/path/to/python test

VENV   := .venv
BIN    := $(VENV)/bin
BASE   := $(VENV)/.installed
TEST   := $(VENV)/.installed-test
BENCH  := $(VENV)/.installed-bench
SITE   := .venv-site
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# The newest Python that is recent enough and can make a virtual environment.
SUITS  := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
              if $$p -c '$(SUITS)' >/dev/null 2>&1; then echo $$p; break; fi; done)

PYTEST_FLAGS ?= -q -n 2
SEEDS ?= 20000
TIME ?= 3600

.PHONY: run test fuzz lint bench gpu docs site dist-check clean
.DELETE_ON_ERROR:

run: $(BASE)
	@mkdir -p build
	$(BIN)/sacpy programs/mandelbrot.sac build/mandelbrot.pgm

test: $(TEST)
	$(BIN)/python -m pytest $(PYTEST_FLAGS)

fuzz: $(TEST)
	$(BIN)/python -m pytest $(PYTEST_FLAGS) -m long
	$(BIN)/python -m tests.fuzz --seeds $(SEEDS) --time $(TIME)
	$(BIN)/python -m tests.fuzz.blocks --seeds $(SEEDS) --time $(TIME)
	$(BIN)/python -m tests.capture.fuzz --count 5000 --seconds $(TIME)

lint: $(TEST)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(BENCH)
	$(BIN)/python -m benchmarks

# That which has most of what is needed: the Python of an image of a GPU is not always the newest one on PATH.
GPU_PYTHON ?= $(shell for m in "cuda.core, llvmlite, numpy" "llvmlite, numpy" "sys"; do for p in python3 python python3.13 python3.12 python3.11; do \
                  if $$p -c "import sys, $$m; sys.exit(sys.version_info < (3, 11))" >/dev/null 2>&1; then echo $$p; exit; fi; done; done)

gpu:
	$(GPU_PYTHON) -m benchmarks.gpu $(GPU_FLAGS)

docs: $(TEST)
	$(BIN)/python -m sacpy.documents.library docs/library
	$(BIN)/python -m tests.docs.stages
	$(BIN)/python -m tests.docs.blocks docs/tour.md docs/differences.md docs/repl.md docs/language.md docs/debugging.md
	$(BIN)/python -m tests.docs.readme
	$(BIN)/python -m tests.docs.mapping_pictures
	$(BIN)/python -m tests.docs.test_mapping
	$(BIN)/python -m tests.notebook.pages

site: $(SITE)/.installed
	$(SITE)/bin/python -m website $(SITE_FLAGS)

dist-check: | $(BIN)/python
	$(BIN)/python tests/packaging/dist_check.py

clean:
	rm -rf $(VENV) $(SITE) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "sacpy needs Python 3.11 or later, with venv; none was found on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(SITE)/.installed: pyproject.toml
	@test -n "$(PYTHON)" || { echo "sacpy needs Python 3.11 or later, with venv; none was found on PATH" >&2; exit 1; }
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[site]'
	@touch $@

$(BASE): pyproject.toml | $(BIN)/python
	$(PIP) --editable .
	@touch $@

$(TEST): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[test]'
	@touch $(BASE) $@

$(BENCH): pyproject.toml | $(BIN)/python
	$(PIP) --editable '.[test,bench]'
	@touch $(BASE) $(TEST) $@
