# make demo and make test do all the set-up from a bare checkout; a second run starts in seconds.
# PYTHON chooses the interpreter; TORCH_INDEX, where set, is the package index that torch is taken from.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PIP = .venv/bin/pip --disable-pip-version-check install --quiet --constraint constraints.txt
KERNEL = $(wildcard streaming/native/*)

.PHONY: demo test lint acceptance bench native flower clean

demo: .venv/.wavetell
	.venv/bin/python -m service.demo

test: .venv/.dev .venv/.system flower
	.venv/bin/python -m pytest -m "not acceptance" --ignore tests/service/dashboard

lint: .venv/.dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/lint-imports

acceptance: .venv/.dev .venv/.system flower
	.venv/bin/python -m pytest -m acceptance --timeout 5400
	.venv/bin/python -m pytest -m "not acceptance" tests/service/dashboard

bench: .venv/.dev
	.venv/bin/wavetell bench engine

native: .venv/.torch
	.venv/bin/python setup.py --quiet build_ext --inplace

clean:
	rm -rf .venv .cache build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis streaming/*.so

# torch comes first and alone, so that nothing else can draw in another build of it.
.venv/.torch: constraints.txt
	bash tests/setup_system.sh python
	test -x .venv/bin/pip || $(PYTHON) -m venv .venv
	$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	touch $@

.venv/.wavetell: .venv/.torch pyproject.toml setup.py $(KERNEL)
	$(PIP) --editable .
	touch $@

.venv/.dev: .venv/.wavetell
	$(PIP) --editable '.[dev,bench]'
	touch $@

flower: .cache/flower/.done

# Flower wants other versions of our packages: it has an environment of its own.
FLOWER = training/federation/flower_app/constraints.txt
.cache/flower/.done: $(FLOWER)
	bash tests/setup_system.sh python
	test -x .cache/flower/bin/pip || $(PYTHON) -m venv .cache/flower
	.cache/flower/bin/pip --disable-pip-version-check install --quiet --constraint $(FLOWER) flwr numpy safetensors httpx
	touch $@

# What the tests talk to: SoapySDR, GNU Radio, a compiler for other processors. Missing parts are said, not fatal.
.venv/.system: .venv/.dev tests/setup_system.sh
	bash tests/setup_system.sh tests
	touch $@
