# Needs Python >= 3.10 with pip and venv; everything else is installed into $(VENV).
#
#   make demo     run the example programs and check them
#   make test     run the tests
#   make help     all targets

# Windows, by reading only (a shell such as Git's is needed there): other names for Python and the scripts' folder.
WINDOWS := $(filter Windows_NT,$(OS))
PYTHON ?= $(if $(WINDOWS),python,python3)
VENV   ?= .venv
JOBS   ?= 2
# What `make bench-compare` compares with.
REV    ?= main
# Versions of cuTile Python that are tested beside each other; "newest" is the one that PyPI gives.
CUTILES ?= 1.5.0 1.6.0 newest
# Versions of Triton before the newest, which releases of torch ask for.
TRITONS ?= 3.6.0 3.7.1 3.8.0
# Processes that share the GPU, each with a compiler of its own.
GPU_JOBS ?= 8
# Processes that tests start find the package compiled.
unexport PYTHONDONTWRITEBYTECODE

SCRIPTS := $(if $(WINDOWS),Scripts,bin)
BIN := $(VENV)/$(SCRIPTS)
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: help demo test script-test lint types bench bench-sweep bench-compare bench-neighbours bench-foreign bench-farm bench-processors bench-triton docs site playground-test vscode codemirror fuzz cluster-test cutiles tritons gpu-test gpu-bench amd-test amd-code nvidia-code arm-test lock clean

help:
	@echo "make demo       run the example programs on this machine and check them against NumPy"
	@echo "make test       run the tests (JOBS=$(JOBS) at a time)"
	@echo "make script-test    run scripts as people publish them, models that torch compiles, and tests that take long"
	@echo "make lint       check the style of the code"
	@echo "make types      check the types of the code"
	@echo "make bench      measure tileir beside its peers; writes docs/performance.md"
	@echo "make bench-sweep    measure how speed changes with size; writes pictures and a JSON file into build/bench"
	@echo "make bench-compare REV=main    measure another revision beside this one; fails if something became slower"
	@echo "make bench-neighbours    measure launches after pauses, and right after NumPy and torch"
	@echo "make bench-foreign    measure kernels of cuTile Python that are written for GPUs beside torch"
	@echo "make bench-triton   measure Triton kernels and compiled models beside torch, Triton's interpreter and cuTile"
	@echo "make bench-processors    measure code for lesser processors beside this one's"
	@echo "make bench-farm     measure what jobs and grids over several processes cost"
	@echo "make docs       generate the reference pages again"
	@echo "make site       build the documentation site into site/"
	@echo "make playground-test  test the site's playground in Chromium (needs npm, chromium and chromedriver)"
	@echo "make vscode     package the extension for Visual Studio Code (needs npm)"
	@echo "make codemirror  bundle the editor component of the page again (needs npm)"
	@echo "make fuzz       feed readers and verifier damaged programs, both targets faulty ones, launches interrupts, the page attacks"
	@echo "make cluster-test  run farms on clusters of Dask and Ray on this machine, and 10,000 jobs through a store"
	@echo "make cutiles    run the tests of cuTile kernels with each version in CUTILES=\"$(CUTILES)\""
	@echo "make tritons    run the tests of Triton kernels with each version in TRITONS=\"$(TRITONS)\""
	@echo "make gpu-test   compare GPU code with the interpreter, on a machine with a GPU (GPU_JOBS=$(GPU_JOBS) at a time)"
	@echo "make amd-test   compile all golden programs for AMD's GPUs, and execute that code, without one"
	@echo "make amd-code   compare code for AMD's GPUs with that of Triton's own programs; writes a table of docs/gpu.md"
	@echo "make nvidia-code   the same for NVIDIA's GPUs, beside the vendor's assembler too"
	@echo "make arm-test   run golden programs as code for AArch64 under an emulator (needs Debian and qemu-aarch64)"
	@echo "make gpu-bench  measure GPU code beside torch, on a machine with a GPU"
	@echo "make lock       pin the packages that CI installs"
	@echo "make clean      remove $(VENV) and what builds and tools left"

demo: $(VENV)/.installed
	@$(BIN)/tileir demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

# Files without `test_` in front, and tests with the mark. Needs torch, triton and cuda-tile; most is skipped without.
script-test: $(VENV)/.test
	$(BIN)/python -m pytest tests/cuda_as_cpu/published_scripts.py $(addprefix tests/triton_kernels/,assembled_kernels.py compiled_models.py helion_kernels.py) -n $(JOBS) $(ARGS) || [ $$? = 5 ]
	$(BIN)/python -m pytest -m thorough -n $(JOBS) $(ARGS)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

bench: $(VENV)/.bench
	$(BIN)/python bench/run.py

bench-sweep: $(VENV)/.bench
	$(BIN)/python bench/sweep.py --save build/bench/$$(date -u +%Y%m%d-%H%M%S).json --pictures build/bench $(ARGS)

bench-compare: $(VENV)/.bench
	$(BIN)/python bench/compare.py $(REV) $(ARGS)

bench-neighbours: $(VENV)/.bench
	$(BIN)/python bench/neighbours.py

bench-foreign: $(VENV)/.bench
	$(BIN)/python bench/foreign.py $(ARGS)

bench-triton: $(VENV)/.bench
	$(BIN)/python bench/triton_cpu.py
	$(BIN)/python bench/triton_cpu.py --models

bench-processors: $(VENV)/.bench
	$(BIN)/python bench/processors.py

bench-farm: $(VENV)/.bench $(VENV)/.cluster
	$(BIN)/python bench/farm.py --jobs 10000 --on processes --on dask --on ray
	$(BIN)/python bench/scaling.py --scale 4
	$(BIN)/python bench/large_file.py --file-mib 20480 --within-mib 4096 --folder .

docs: $(VENV)/.installed
	$(BIN)/python docs/generate.py

site: $(VENV)/.site
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

# npm has the core of Pyodide. The full distribution, which has NumPy, may be unpacked over it: more is tested then.
playground-test: $(VENV)/.test
	test -e build/pyodide/node_modules/pyodide || npm install --silent --no-audit --no-fund --no-save --prefix build/pyodide \
	  pyodide@$$(sed -n 's,.*/pyodide/v\([0-9.]*\)/.*,\1,p' docs/playground/worker.js)
	$(BIN)/python -m pytest tests/tools/test_playground_page.py -rs

vscode:
	cd editors/vscode && npm install --no-audit --no-fund --no-package-lock && npm test && npm run package

# The bundle keeps the licence in front of it. esbuild finds the packages by NODE_PATH.
codemirror:
	npm install --silent --no-audit --no-fund --no-save --prefix build/codemirror esbuild@0.28.2 \
	  @codemirror/state@6.7.6 @codemirror/view@6.43.15 @codemirror/commands@6.11.1 @codemirror/language@6.13.1 \
	  @codemirror/lint@6.9.8 @codemirror/search@6.7.2
	NODE_PATH=build/codemirror/node_modules build/codemirror/node_modules/.bin/esbuild editors/web/codemirror.mjs \
	  --bundle --minify --format=iife --global-name=CodeMirror --log-level=warning --outfile=build/codemirror/bundle.js
	sed '/\*\/$$/q' tileir/tools/serve/codemirror.js | cat - build/codemirror/bundle.js > build/codemirror/licensed.js
	mv build/codemirror/licensed.js tileir/tools/serve/codemirror.js

fuzz: $(VENV)/.fuzz
	$(BIN)/python -m tests.fuzz.faulty --count 20000 --jobs $(JOBS)
	$(BIN)/python -m tests.fuzz.launching --rounds 1000
	$(BIN)/python -m tests.fuzz.launching.changing --launches 1000000
	$(BIN)/python -m tests.fuzz.serving --count 1000
	TILEIR_FUZZ_TRIES=5000 $(BIN)/python -m pytest tests/fuzz tests/explore/test_enumeration.py
	TILEIR_FUZZ_TRIES=100 $(BIN)/python -m pytest tests/sanitize/test_proofs_hold.py
	$(BIN)/python -m tests.explore.conformance --runs 10000
	$(BIN)/python -m tests.fuzz.verdicts --count 10000
	$(BIN)/python -m tests.fuzz.run --seconds 60 --target text
	$(BIN)/python -m tests.fuzz.run --seconds 60 --target bytecode
	$(BIN)/python -m tests.passes.fuzz --count 5000 --jobs $(JOBS)
	$(BIN)/python -m tileir fuzz --source valid --count 1000 --workers $(JOBS) --findings build/fuzz \
	  --weight wait=3 --weight wide=4 --weight gather=2 --weight large=2 --weight step=4 \
	  --engines interp-O2,cpu,cpu-O2
	$(BIN)/python -m tileir fuzz --source valid --count 500 --workers $(JOBS) --findings build/fuzz \
	  --engines tests.fuzz.machines:ttir_sm_90,tests.fuzz.machines:ttir_gfx942,tests.fuzz.machines:hsaco_gfx942

cluster-test: $(VENV)/.cluster
	TILEIR_FARM_JOBS=10000 $(BIN)/python -m pytest tests/farm tests/tune tests/large_grids $(ARGS)

cutiles: $(CUTILES:%=$(VENV)-cutile-%/.installed)
	@for version in $(CUTILES); do \
	  $(VENV)-cutile-$$version/$(SCRIPTS)/python -c 'import cuda.tile; print("cuda-tile", cuda.tile.__version__)' && \
	  $(VENV)-cutile-$$version/$(SCRIPTS)/python -m pytest tests/cutile -n $(JOBS) $(ARGS) || exit 1; \
	done

# An earlier Triton stands in front of the one that is installed. Needs torch; without it all of this is skipped.
tritons: $(VENV)/.test
	@for version in $(TRITONS); do \
	  $(PIP) install --no-deps --upgrade --target build/triton-$$version triton==$$version && \
	  PYTHONPATH=build/triton-$$version $(BIN)/python -c 'import triton; print("triton", triton.__version__)' && \
	  PYTHONPATH=build/triton-$$version $(BIN)/python -m pytest tests/triton_kernels -n $(JOBS) $(ARGS) || exit 1; \
	done

# A kernel that hangs, or one that ends the use of the GPU, ends one of the processes, which is replaced.
gpu-test: $(VENV)/.gpu
	$(BIN)/python -m pytest tests -m hardware -n $(GPU_JOBS) --max-worker-restart=100 -rfEs \
	  -o faulthandler_timeout=180 -o faulthandler_exit_on_timeout=true $(ARGS)

# Examples of cuTile Python compare with torch.
amd-test: $(VENV)/.gpu $(VENV)/.gpu-bench
	$(BIN)/python -m pytest tests/gpu/amd_*.py -n $(JOBS) $(ARGS)

amd-code nvidia-code: $(VENV)/.gpu
	$(BIN)/python bench/gpu_code.py $(@:-code=) --write

build/aarch64/.ready: tests/arm/prepare.sh | $(VENV)/.test
	sh tests/arm/prepare.sh build/aarch64 $(BIN)/python
	@touch $@

arm-test: build/aarch64/.ready
	build/aarch64/python -m tests.cpu.other_processor "this processor" 1
	build/aarch64/python -m tests.cpu.other_processor "Neoverse V1" 1

gpu-bench: $(VENV)/.gpu-bench
	$(BIN)/python bench/gpu.py $(ARGS)

# The packages that CI installs, with the hashes of their files, for every system and version of Python. Needs uv.
lock:
	uv pip compile -q pyproject.toml --extra test --extra completion --universal --python-version 3.10 \
	  --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade -o requirements/ci.txt

clean:
	rm -rf $(VENV) $(VENV)-cutile-* build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find tileir -name "*.so" -delete

# A stamp file for each set of packages, so that nothing is installed twice. The package itself is installed in place:
# a change of its code needs no new installation.

$(VENV)/pyvenv.cfg:
	@echo "creating $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { echo "tileir needs Python 3.10 or newer"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir into $(VENV)"
	@$(PIP) install -e .
	@touch $@

$(VENV)/.test: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir and what its tests need into $(VENV)"
	@$(PIP) install -e '.[test]'
	@touch $@ $(VENV)/.installed

$(VENV)/.site: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing what builds the site into $(VENV)"
	@$(PIP) install -e '.[site]'
	@touch $@ $(VENV)/.installed

$(VENV)/.fuzz: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir, the fuzzer and what makes code for GPUs into $(VENV)"
	@$(PIP) install -e '.[test,fuzz,gpu,oracle]'
	@touch $@ $(VENV)/.installed $(VENV)/.test

$(VENV)/.cluster: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir, Dask, Ray, Optuna and schemas of Kubernetes into $(VENV)"
	@$(PIP) install -e '.[test,dask,ray,tune]' kubernetes-validate==1.37.0
	@$(PIP) install --no-deps dask-kubernetes==2026.3.0
	@touch $@ $(VENV)/.installed $(VENV)/.test

$(VENV)/.bench: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir and its peers into $(VENV)"
	@$(PIP) install -e '.[bench,oracle]'
	@touch $@ $(VENV)/.installed

$(VENV)-cutile-%/.installed: pyproject.toml
	@echo "installing tileir, torch and cuda-tile ($*) into $(VENV)-cutile-$*"
	@$(PYTHON) -m venv $(VENV)-cutile-$*
	@$(VENV)-cutile-$*/$(SCRIPTS)/python -m pip --disable-pip-version-check -q install -e '.[test,torch]' \
	  'cuda-tile$(patsubst %,==%,$(filter-out newest,$*))'
	@touch $@

$(VENV)/.gpu: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir and what its GPU tests need into $(VENV)"
	@$(PIP) install -e '.[test,gpu,oracle]'
	@touch $@ $(VENV)/.installed $(VENV)/.test

$(VENV)/.gpu-bench: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing tileir, torch and what GPU code needs into $(VENV)"
	@$(PIP) install -e '.[gpu,oracle,torch]'
	@touch $@ $(VENV)/.installed
