# make demo   runs the quick start headless            make lab    opens it in JupyterLab
# make test   everything: lint, types, all tests       make check  the quick part of it
# make bench  the benchmarks                         make docs   the documentation
# Each makes what it needs by itself, and works offline once that is there.

# The first Python that is new enough; PYTHON=/path/to/python overrides it.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
TOOL = $(BIN)/python -m
QUICKSTART := 01-quickstart
ROOT_FLAG := $(if $(filter 0,$(shell id -u)),--allow-root)
# The frames are computed by pandas alone, so these run once more on the oldest one supported.
FRAMES_TESTS := tests/analysis
# Kernels, terminals, kills and a browser on a busy machine: a failure counts when it comes back. Each
# try is printed (R), and named at the end; `make test RERUNS=` shows every first failure as one.
RERUNS ?= --reruns 2 --reruns-delay 1 -rR
# A test that takes its process down ends the run: xdist may wait for ever for those behind it.
CRASHES = --max-worker-restart 0

SPREAD = $(TOOL) pytest -q -n 2 $(CRASHES)
LIVE = $(SPREAD) --dist loadgroup $(RERUNS)
# Only the files that have such tests: reading the thousands of others takes longer than many of them.
LIVE_TESTS = tests/notebook tests/browser $(shell grep -rlE 'mark\.(notebook|browser)' tests --include='test_*.py')

# How often `make soak` runs the tests in kernels and front ends.
SOAK ?= 20
FUZZ ?= 20
FUZZ_SECONDS ?= 300

.NOTPARALLEL:
# The vendors' commands that `make test-real` runs, in the versions they were last tried with.
COMMANDS := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.171.0 @google/gemini-cli@0.61.0 \
	opencode-ai@1.18.33

.PHONY: demo lab test test-real check soak fuzz bench bench-docs docs notebooks lint unit front-ends kernels browser pandas-2.2 commands local-model env-demo env-docs env-test python picture clean

demo: env-demo
	@mkdir -p build
	@RT_NOTEBOOK_STORE=$(CURDIR)/build/demo.db $(TOOL) nbconvert --to notebook --execute \
		--log-level=WARN --ExecutePreprocessor.extra_arguments=--log-level=ERROR --output-dir=build notebooks/$(QUICKSTART).ipynb
	@$(TOOL) nbconvert --to html --log-level=ERROR build/$(QUICKSTART).ipynb
	@echo
	@echo "The quick start has run. See it:"
	@echo "  in a browser       file://$(CURDIR)/build/$(QUICKSTART).html"
	@echo "  as a notebook      build/$(QUICKSTART).ipynb"
	@echo "  live, with gates   make lab"

lab: env-demo
	$(TOOL) jupyterlab $(ROOT_FLAG) notebooks/$(QUICKSTART).ipynb

test: env-test lint unit pandas-2.2 front-ends
	@echo "All tests passed."

# Against loopback servers and without any key of yours. Needs npm once, for the commands, and once
# a C++ compiler and some minutes, for a real small model; what can't be had is skipped and named.
test-real: env-test commands local-model
	$(TOOL) pytest -q -m "real_cli or local_model"

check: env-test lint
	$(TOOL) pytest -q -m "not notebook and not browser and not slow and not real_cli and not local_model and not soak"

lint:
	$(TOOL) ruff check .
	$(TOOL) ruff format --check .
	$(TOOL) mypy

unit:
	$(SPREAD) --dist loadfile $(RERUNS) -m "not notebook and not browser and not real_cli and not local_model and not soak"

# Kernels and browser at once: together they keep two workers equally busy.
front-ends:
	$(LIVE) -m "(notebook or browser) and not soak" $(LIVE_TESTS)

kernels:
	$(LIVE) -m "notebook and not soak" $(LIVE_TESTS)

browser:
	$(LIVE) -m "browser and not soak" $(LIVE_TESTS)

pandas-2.2:
	@if [ -d .cache/$@ ]; then PYTHONPATH=$(CURDIR)/.cache/$@ $(TOOL) pytest -q $(FRAMES_TESTS); \
	else echo "There is no pandas 2.2 for this Python; its newest pandas was tested."; fi

# Kernels and front ends 20 times in a row without a second try, then the long variants of tests.
soak: env-test
	$(TOOL) tools.soak --passes $(SOAK) $(LIVE_TESTS)
	$(SPREAD) --dist loadgroup --timeout 0 -m soak

# Other inputs each time, FUZZ times as many as in `make test` (20: about a quarter of an hour), then
# FUZZ_SECONDS guided by coverage where atheris is installed (it isn't by this).
fuzz: env-test
	RT_NOTEBOOK_FUZZ=$(FUZZ) $(TOOL) pytest -q --timeout 0 tests/fuzz
	$(TOOL) tests.fuzz.guided $(FUZZ_SECONDS)

# All tables in one run, into build/bench.md; BENCH="store live" runs some. Peers go into .cache.
bench: env-test
	@$(TOOL) benchmarks $(BENCH)

# Writes the tables of the last runs into docs/performance.md.
bench-docs: env-test
	@$(TOOL) benchmarks --docs

# Its tables are written anew from the code first; every warning is an error.
docs: env-docs
	@$(TOOL) tools.reference
	@$(TOOL) sphinx -W --keep-going -q -b html docs build/docs -d build/docs-trees
	@echo "The documentation: file://$(CURDIR)/build/docs/index.html"

# Runs all notebooks headless and saves them with their outputs.
notebooks: env-test
	@$(TOOL) tools.notebooks

commands:
	@command -v npm >/dev/null || { echo "npm isn't here; commands that aren't on PATH are skipped."; exit 0; }; \
	[ -d .cache/cli/node_modules ] || npm install --prefix .cache/cli --no-audit --no-fund --loglevel=error $(COMMANDS)

# A small model's weights and a server for them, in `.cache/local-model`.
local-model: python
	@$(PYTHON) -m tools.local_model

env-demo: python
	@$(PYTHON) -m tools.environment demo

env-docs: python
	@$(PYTHON) -m tools.environment docs

env-test: python
	@$(PYTHON) -m tools.environment test

python:
	@[ -n "$(PYTHON)" ] || { echo "rt_notebook needs Python 3.11 or newer; none was found on PATH." >&2; exit 1; }

# The README's picture, taken anew from the quick start in a real JupyterLab.
picture: env-test
	@$(TOOL) tools.picture

clean:
	rm -rf .venv .cache build
