# The front door: `make run` and `make test` are all that most people need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
VAULT ?=
BENCH ?= all
MINUTES ?= 10
ROUNDS ?= 200
export PIP_DISABLE_PIP_VERSION_CHECK := 1


.PHONY: docs run test lint types unit journey trust viewer-test viewer bench fmt clean browser
.PHONY: load faults peers growth retrieval

run: $(STAMP)  ## install, make a vault if there is none, start the daemon
	@$(BIN)/neurigraph up $(VAULT)

$(STAMP): pyproject.toml constraints.txt hatch_build.py $(wildcard viewer/package-lock.json)
	@$(PYTHON) -m venv $(VENV)
	@echo "Installing; the first time this takes a minute or two."
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

test: $(STAMP) browser lint types unit journey trust viewer-test  ## everything that CI checks

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy

unit: $(STAMP)
	@$(BIN)/python -m pytest -q tests/unit

journey: $(STAMP)
	@$(BIN)/python -m pytest -q tests/journey

trust: $(STAMP) browser
	@$(BIN)/python -m pytest -q tests/trust

viewer-test: $(STAMP) viewer
	@$(BIN)/python hatch_build.py test
	@$(BIN)/python -m pytest -q tests/viewer

viewer: $(STAMP)  ## build the viewer again after a change of its source
	@$(BIN)/python hatch_build.py build

browser: $(STAMP)  ## a Chromium for the viewer's tests, where there is none
	@$(BIN)/python tests/browser.py

fmt: $(STAMP)
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

docs: $(STAMP)  ## write the reference pages that are made from the code
	@$(BIN)/python tests/make_docs.py

bench: $(STAMP)  ## measure; BENCH=name for one of them, DATA=folder for the data
	@$(BIN)/python tests/bench/run.py $(BENCH) $(if $(DATA),--data $(DATA))

retrieval: $(STAMP)  ## whether the right memory comes first; FILE=a LoCoMo-format file
	@$(BIN)/python tests/bench/retrieval.py $(FILE) --ablate

load: $(STAMP)  ## AIs, a person, git and cooling at once; MINUTES=10
	@$(BIN)/python tests/load/harness.py --minutes $(MINUTES)

faults: $(STAMP)  ## kill the daemon at random moments of its work; ROUNDS=200
	@$(BIN)/python tests/faults/run.py --rounds $(ROUNDS)

peers: $(STAMP)  ## beside basic-memory and ripgrep; DATA=folder for the data
	@$(BIN)/python tests/bench/peers/run.py $(if $(DATA),--data $(DATA))

growth: $(STAMP)  ## 1,000, 10,000 and 50,000 memories; GROWTH=1000,10000 for others
	@$(BIN)/python tests/bench/run.py growth

clean:
	rm -rf $(VENV) viewer/node_modules viewer/dist daemon/neurigraph/_viewer .mypy_cache .ruff_cache .pytest_cache
