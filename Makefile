PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test slow lint types tutorials bench clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: setup  ## answer a dozen questions (a simulated person does if nobody is at the terminal)
	@if [ -t 0 ]; then $(BIN)/prefopt demo colour; else $(BIN)/prefopt demo colour --simulate; fi

test: setup  ## the whole default suite, doctests included
	$(BIN)/python -m pytest -n 2 -q

slow: setup  ## reference tables and other long tests
	$(BIN)/python -m pytest -n 2 -q -m slow

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

tutorials: setup
	for t in tutorials/*.py; do echo "== $$t"; MPLBACKEND=Agg $(BIN)/python $$t --quick || exit 1; done

bench: setup
	$(BIN)/python benchmarks/run_quick.py

clean:
	rm -rf $(VENV) build dist
