# make demo and make test set everything up; the second time they start at once.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready

.PHONY: demo test test-slow check docs bench clean help

help:  ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(READY)  ## the whole story in under three minutes, ending in a page to open
	@$(VENV)/bin/hardgap demo

test: $(READY)  ## the fast tests
	@$(VENV)/bin/python -m pytest -m "not slow" --numprocesses auto --dist loadfile

test-slow: $(READY)  ## the tests marked slow: kills, long resumes, the demo and the page in a browser
	@$(VENV)/bin/python -m pytest -m slow --numprocesses auto --dist loadfile --no-loadscope-reorder

check: $(READY)  ## ruff, mypy --strict, the layer test
	@$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/python -m pytest tests/test_layers.py

docs: $(VENV)/.docs  ## the site, in docs/_build/html: notebooks are run, links are checked, a warning is an error
	@$(VENV)/bin/python -m sphinx --nitpicky --fail-on-warning --keep-going --jobs auto docs docs/_build/html
	@echo "docs/_build/html/index.html"

$(VENV)/.docs: $(READY)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[docs]"
	@touch $@

bench: $(READY)  ## the ratios, with what they are compared to installed first
	@$(VENV)/bin/pip install --quiet --constraint constraints.txt --editable ".[bench]"
	@$(VENV)/bin/hardgap bench

clean:  ## forget the environment
	rm -rf $(VENV) docs/_build

$(READY): pyproject.toml constraints.txt hatch_build.py $(wildcard src/hardgap/nn/native/*.cpp src/hardgap/nn/native/*.h)
	@echo "Setting up $(VENV) (once; about a minute with a warm package cache)"
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[dev,exports]"
	@touch $@
