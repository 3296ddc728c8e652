# Needs python3 (3.11 to 3.13) and make. Everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NMT := $(BIN)/nmt
DEMO := demo
MODEL := data/models/eng-deu/nmt_model_eng_deu/model

.PHONY: docs docs-test help try demo test test-slow check release-check check-install check-package check-documents lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make try     install what translation needs, and translate a sentence with a model that is there (a minute)"
	@echo "make demo    prepare, train, translate, evaluate and draw on the bundled corpus, into demo/ (about 10 minutes)"
	@echo "make check   lint, types and the tests of parts, without networks and programs: a minute, for use while coding"
	@echo "make test    install everything, then lint, types and all tests but the slow ones: what CI runs"
	@echo "make test-slow        all tests: all networks, kills, clusters, whole training runs; new examples of properties"
	@echo "make release-check    test-slow, the checks below and the scripts of tests/release"
	@echo "make check-install    resolve every extra; install the lowest versions allowed and translate with them"
	@echo "make check-package    build what an index takes, NMT_ADDRESS in its links, into dist/; make try with the wheel"
	@echo "make check-documents  open translated documents in the programs that own their formats"
	@echo "make docs    the pages of docs/ as a site, into build/site/"
	@echo "make docs-test          run the commands of the tutorial (about 20 minutes)"
	@echo "make format  rewrite the code in the project's format"
	@echo "make clean   remove demo/ and the caches; .venv stays"

# A stamp is newer than its lock file and pyproject.toml as long as .venv holds what they name. The demo needs no tools of
# development, no Ray and no TensorFlow for GPUs, so it has a lock of its own, with the same versions.
# --no-compile: half of what is installed is never imported, and to compile all of it takes 43 seconds of a processor.
# Debian leaves a .venv without pip where it has no python3-venv.
define make_venv
	@command -v $(PYTHON) >/dev/null || { echo 'Python 3.11 to 3.13 is needed, there is no $(PYTHON): make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; (3, 11) <= sys.version_info < (3, 14) or sys.exit("Python 3.11 to 3.13 is needed, this is " + sys.version.split()[0] + ": make PYTHON=/path/to/python3.13")'
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { test -e $(VENV) || new=1; $(PYTHON) -m venv $(VENV); } || \
		{ test -z "$$new" || rm -rf $(VENV); echo 'Debian, Ubuntu: apt-get install python3-venv' >&2; exit 1; }
endef

define install
	$(make_venv)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --requirement $<
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@
endef

$(VENV)/installed: requirements.lock pyproject.toml
	$(install)
	@touch $(VENV)/demo-installed $(VENV)/try-installed

$(VENV)/demo-installed: requirements-demo.lock pyproject.toml
	$(install)

# No TensorFlow: the lock only says which versions.
$(VENV)/try-installed: requirements.lock pyproject.toml
	$(make_venv)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint $< --editable '.[formats,serve]'
	@touch $@

try: $(VENV)/try-installed
	@printf 'Where is the station?\nReplace all\n' | tee /dev/stderr | $(NMT) translate --model eng-deu
	@echo '<p>Press the <b>Enter</b> key to open the dialog.</p>' | tee /dev/stderr | $(NMT) translate --model eng-deu --format html
	@echo
	@echo 'That was: echo "Where is the station?" | nmt translate --model eng-deu, for a sentence, a label and a document'
	@echo 'nmt is in $(BIN): source $(BIN)/activate'

demo: $(VENV)/demo-installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh $(DEMO)

lint: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# --no-loadscope-reorder keeps the order of tests/conftest.py: the longest files first.
# Images of containers set PYTHONDONTWRITEBYTECODE; hundreds of processes would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

check: lint
	$(PYTEST) -m "not network and not whole and not slow" --hypothesis-profile quick

test: lint
	$(PYTEST) -m "not slow" --durations 20

test-slow: lint
	$(PYTEST) --hypothesis-profile thorough --durations 20

release-check: test-slow check-install check-package check-documents
	$(BIN)/python tests/release/kill.py
	$(BIN)/python tests/release/fuzz_prepare.py --seconds 60
	$(BIN)/python tests/release/fuzz_server.py --model $(MODEL) --seconds 60
	$(BIN)/python tests/release/check_server.py restarts --model $(MODEL)
	$(BIN)/python tests/release/check_server.py memory --model $(MODEL)
	$(BIN)/python tests/release/check_linear.py

check-install: $(VENV)/installed
	$(BIN)/python tests/release/check_install.py

check-package:
	$(PYTHON) tests/release/check_package.py

check-documents: $(VENV)/installed
	$(BIN)/python tests/release/check_documents.py

# NO_MKDOCS_2_WARNING: the theme's makers announce its successor.
docs: $(VENV)/try-installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mkdocs-material>=9.6'
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict --config-file docs/site/mkdocs.yml
	@echo "build/site/index.html"

docs-test: $(VENV)/installed
	$(BIN)/python docs/site/run_tutorial.py

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
