# Each target sets up what it needs. `make serve` and `make test` are all a new user has to know.
# The system's Python instead of another one of its version: distributions compile theirs by profile, so it takes a tenth
# less time. It is left where it can make no environment, as without Debian's package python3-venv.
SYSTEM_PYTHON := /usr/bin/python3
IS_AS_NEW := import ensurepip, sys; sys.exit('%d.%d' % sys.version_info[:2] not in sys.argv[1])
PYTHON ?= $(shell $(SYSTEM_PYTHON) -c "$(IS_AS_NEW)" "$$(python3 -V)" 2>/dev/null && echo $(SYSTEM_PYTHON) || echo python3)
VENV ?= .venv
BIN := $(VENV)/bin
# Not pip: of a minute and a half of processor time that it takes for all, uv takes eleven seconds.
INSTALL := $(BIN)/uv pip install -q --python $(BIN)/python -c constraints.txt
LINT := $(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports
PORT ?= 8000
DATA_DIR ?= .data

BOUNDS_CHECKED := tests/unit/engine tests/differential tests/quality tests/properties tests/golden

# Where byte code may not be written, each process compiles every module anew: tests start dozens.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: serve test coverage soak marathon bounds lint bench bench-report clean clients constraints docs icons page

serve: $(VENV)/.serve-ready
	@exec $(BIN)/checkout up --port $(PORT) --data-dir "$(DATA_DIR)"

# Five workers for two cores: browsers, chains and killed processes are waited for more than half of the time. What
# `lint` has to say comes among the tests, as soon as it has ended.
test: $(VENV)/.test-collected
	$(BIN)/python -m tests.support.programs
	@(said=$$({ $(LINT); } 2>&1); found=$$?; echo "$$said"; exit $$found) & linting=$$!; \
	 $(BIN)/pytest -n 5 --dist loadgroup --no-loadscope-reorder; tested=$$?; \
	 wait $$linting && exit $$tested

# Tracing makes the exact arithmetic several times slower, so it has a run of its own.
coverage: $(VENV)/.test-ready
	$(BIN)/python -m tests.support.programs
	$(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder --cov --cov-report=term

# A deployment on PostgreSQL and Redis gets RATE orders a second for MINUTES, while its parts are killed and stopped as the
# dice of SEED say; the report is build/soak/report.md. Nothing else should run on the machine: docs/capacity.md.
soak: $(VENV)/.test-ready
	$(BIN)/python -m tests.chaos.soak --rate $(or $(RATE),100) --minutes $(or $(MINUTES),10) --seed $(or $(SEED),7)

# On each database: a thousand orders are paid, expire and are reorganised while processes are killed, and a thousand
# histories of honest and hostile acts happen on real chains; SEED=n throws other dice, HISTORIES and SCHEDULES say how
# many. Certificates are attacked on 20,000 markets (ATTACKS). FUZZ_CASES requests are thrown at the running service:
# docs/fuzzing.md.
marathon: $(VENV)/.test-ready
	CHAOS_SCHEDULES=$(or $(SCHEDULES),1000) HISTORIES=$(or $(HISTORIES),1000) CHAOS_SEED=$(or $(SEED),7) \
	  $(BIN)/pytest -p no:xdist -s --timeout 7200 tests/chaos/test_kill.py tests/chaos/test_histories.py
	ATTACKS=$(or $(ATTACKS),20000) $(BIN)/pytest -p no:xdist --timeout 7200 tests/differential/test_attacks.py
	FUZZ_CASES=$(or $(FUZZ_CASES),50000) FUZZ_LIMIT_S=1 CHAOS_SEED=$(or $(SEED),7) \
	  $(BIN)/pytest -p no:xdist -s tests/fuzz

# Everything that runs kernels, with kernels that look at every index; they are kept apart, and take minutes to compile.
bounds: $(VENV)/.test-ready
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR="$(CURDIR)/build/bounds-checked" \
	  $(BIN)/pytest -p no:xdist --timeout 7200 $(BOUNDS_CHECKED)

# Every state of the checkout page in every look, into docs/page; STATES="paid expired" takes those only.
page: $(VENV)/.test-ready
	$(BIN)/python -m tests.support.chromium
	$(BIN)/python -m tests.support.fonts
	$(BIN)/python -m tests.browser.gallery $(STATES)

# The site, into build/site, without a network; and its programs in PHP and Go, of which each is installed if missing.
docs: $(VENV)/.test-ready
	$(BIN)/python -m tests.support.guide
	$(BIN)/python -m tests.support.site build/site
	$(BIN)/python -m tests.support.languages
	$(BIN)/pytest -q -p no:xdist tests/docs/other_languages.py

lint: $(VENV)/.test-ready
	$(LINT)

# Routers side by side, FULL=1 on recorded markets too; then what only this engine has. See docs/benchmarks.md.
bench: $(VENV)/.test-ready
	$(BIN)/routing-engine bench run --suite $(if $(FULL),full,quick)
	$(BIN)/routing-engine bench report --html .benchmarks/report.html --markdown .benchmarks/report.md
	$(BIN)/python -m benchmarks.parts $(if $(FULL),--full)
	$(BIN)/python -m benchmarks.parts.report_markets
	$(BIN)/pytest benchmarks/parts -p no:xdist --benchmark-columns=min,median,max,rounds

# One page of the published runs of all suites, with their pictures side by side, into build/bench.html.
bench-report: $(VENV)/.test-ready
	$(BIN)/routing-engine bench report benchmarks/published/*.jsonl.gz --html build/bench.html

# The pinned versions are in constraints.txt; setup.cfg says which ranges are meant to work. Tests need more than the
# service: on the way to them all is installed while the kernels are compiled.
EXTRA := api
$(VENV)/.test-ready: EXTRA := test

$(VENV)/.serve-ready: setup.cfg constraints.txt
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "Installing the service (two to three minutes with what follows, once) …"
	@$(BIN)/pip install -qq -c constraints.txt uv
	@$(INSTALL) networkx numba numpy
	@echo "Compiling the routing kernels meanwhile (once) …"
	@$(BIN)/python -m routing_engine.warm_up --formulas & compiling=$$!; \
	 $(INSTALL) -e '.[$(EXTRA)]' && wait $$compiling
	@touch $@

$(VENV)/.test-ready: $(VENV)/.serve-ready
	@echo "Installing the test tools …"
	@$(INSTALL) -e '.[test]'
	@touch $@

# Only so that modules are byte code before workers import them: each would compile most of them for itself. The system's
# programs come meanwhile. What is wrong, the tests say.
$(VENV)/.test-collected: $(VENV)/.test-ready
	@echo "Reading the tests (once) …"
	@$(BIN)/python -m tests.support.programs >/dev/null 2>&1 & \
	 $(BIN)/pytest -qq -p no:xdist --collect-only >/dev/null; wait
	@touch $@

constraints:
	echo '-e .[api,bench,test]' | uv pip compile - --universal --python-version 3.11 --no-header --no-annotate \
	  --no-emit-package crosschain-checkout -o constraints.txt

# Writes what of the clients is generated: clients/README.md.
clients: $(VENV)/.test-ready
	$(BIN)/python -m tests.clients.generation

# Draws the sprite of the checkout page anew: docs/devices.md.
icons: $(VENV)/.test-ready
	$(BIN)/python -m tests.support.icons

clean:
	rm -rf $(VENV) .data .pytest_cache .mypy_cache .ruff_cache .coverage build *.egg-info
