PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two processes of two threads each wait for one another on two cores: small matrices took up to 17 times the processor time.
export OMP_NUM_THREADS ?= 1

TUTORIALS := $(wildcard tutorials/*.py)
BENCHMARKS := $(filter-out benchmarks/_%, $(wildcard benchmarks/*.py))
# Each worker begins with a half of the tests, so that it compiles a policy once, and takes from the other when done.
PYTEST := $(BIN)/python -m pytest -n 2 --dist worksteal -q

.PHONY: setup demo test slow lint types tutorials bench clean $(TUTORIALS) $(BENCHMARKS)

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: setup  ## answer a dozen questions (a simulated person does if nobody is at the terminal)
	@if [ -t 0 ]; then $(BIN)/prefopt demo colour; else $(BIN)/prefopt demo colour --simulate; fi

test: setup  ## the whole default suite, doctests included; TESTS: further options of pytest
	$(PYTEST) $(TESTS)

slow: setup  ## reference tables and other long tests
	$(PYTEST) -m slow

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

# Each script is a target of its own: "make -j 2 tutorials bench" runs two at a time.
tutorials: $(TUTORIALS)

$(TUTORIALS): setup
	MPLBACKEND=Agg $(BIN)/python $@ --quick

bench: $(BENCHMARKS)

$(BENCHMARKS): setup
	MPLBACKEND=Agg $(BIN)/python $@ --quick --out benchmarks/results/quick

clean:
	rm -rf $(VENV) build dist
