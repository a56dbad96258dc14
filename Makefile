# Thin lines over commands that work without make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
ARGS ?=

.PHONY: run test install lint bench bench-peers eval fuzz conformance clients browser-tools screenshots
install: $(STAMP)
$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) deploy/install.py $(VENV)
	@touch $(STAMP)

run: install
	$(BIN)/throughline serve $(ARGS)

# With bytecode, whatever the environment says: many tests start the command, which would compile itself.
# In the order of the folders: reordered, the few long tests of end to end would come last, where one process waits.
test: install
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder $(ARGS)

lint: install
	$(BIN)/ruff check proxy tests deploy
	$(BIN)/ruff format --check proxy tests deploy
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/python deploy/words.py
	$(BIN)/python deploy/subjects.py

bench: install
	$(BIN)/python -m tests.bench $(ARGS)

bench-peers:
	$(PYTHON) -m venv .bench-venv
	.bench-venv/bin/pip install --quiet 'litellm[proxy]==1.106.2'

eval: install
	$(BIN)/throughline eval $(ARGS)

fuzz: install
	$(BIN)/python -m tests.fuzz $(ARGS)

# These two fetch other people's suites and clients, once; they are no part of the tests.
conformance: install
	$(BIN)/python -m tests.conformance $(ARGS)

clients: install
	$(BIN)/python -m tests.clients $(ARGS)

# For the tests of the dashboard in a browser, where node and npm are there.
browser-tools:
	npm install --silent --no-save --prefix .browser-tools playwright-core@1 axe-core@4

# Each page in light and dark, into deploy/pages.
screenshots: install browser-tools
	$(BIN)/python -m tests.api.dashboard.screenshots
