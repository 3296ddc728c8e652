# Needs python3 (3.11 or later) and make. Everything else is installed into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
NMT := $(BIN)/nmt
DEMO := demo

.PHONY: help demo test lint format clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    prepare, train, translate, evaluate and draw on the bundled corpus, into demo/ (about 8 minutes)"
	@echo "make test    lint, types and all tests: what CI runs"
	@echo "make format  rewrite the code in the project's format"
	@echo "make clean   remove demo/ and the caches; .venv stays"

# The stamp is newer than the lock file and pyproject.toml as long as .venv holds what they name.
$(VENV)/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

demo: $(VENV)/installed
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh examples/demo.sh $(DEMO)

lint: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint
	$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --durations 20

format: $(VENV)/installed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist *.egg-info
