# Needs Python 3.11 or newer, make and Git; everything else comes into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Without bytecode on disk, each of the thousand programs that tests start would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE
# Exact versions with hashes, the same on every machine; `make lock` writes them, whole, so pip need resolve nothing.
INSTALL := -m pip install --quiet --disable-pip-version-check
LOCKED := $(INSTALL) --no-deps --require-hashes --requirement .ci/lock

PYTEST := $(BIN)/python -m pytest --dist worksteal -n auto

# Which tests a target runs, by their marks; pyproject.toml says what each mark means.
APART := originals or engines or guide
FAST := not (slow or repository or $(APART))
SLOW := (slow or repository) and not ($(APART))

.PHONY: demo check test test-slow test-pure test-thorough test-originals test-engines test-guide test-editors \
  test-playground test-playground-short full mutants renew film matrix agreement engines real-judge conformance bench speed false-alarms improvements \
  site playground fuzz lock version packages clean

# The examples hold faults on purpose, so this run is to end with exit code 1: no other one will do.
demo: $(VENV)/installed
	@$(BIN)/rubric-lint --version
	@echo '$$ rubric-lint examples/'
	@$(BIN)/rubric-lint examples/ </dev/null; code=$$?; echo; \
	if [ $$code -eq 1 ]; then echo 'Exit code 1, as expected: the examples hold faults on purpose.'; \
	else echo "Exit code $$code where 1 was expected."; exit 1; fi

check: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

# Without the tests that are slow, about the repository, or about what only `make full` installs. mypy checks the types
# meanwhile: it keeps one core busy for a minute the first time, and a second with its cache.
test: $(VENV)/installed-dev
	@mkdir -p .cache
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@$(BIN)/mypy >.cache/mypy.log 2>&1 & types=$$!; \
	echo '$(PYTEST) -m "$(FAST)"'; $(PYTEST) -m "$(FAST)" </dev/null; tests=$$?; \
	wait $$types; types=$$?; echo '$(BIN)/mypy'; cat .cache/mypy.log; \
	exit $$((tests > types ? tests : types))

test-slow: $(VENV)/installed-dev
	$(PYTEST) -m "$(SLOW)" </dev/null

# The properties with more cases, and the long tables whole.
test-thorough: $(VENV)/installed-dev
	$(PYTEST) -m "(hypothesis or spread) and not ($(APART))" --hypothesis-profile thorough </dev/null

# Other systems, asked themselves: what they make of what we write, and of the rubrics that we read.
test-originals: $(VENV)/installed-dev agreement
	$(PYTEST) -m originals </dev/null

test-engines: $(VENV)/installed-dev engines
	$(PYTEST) -m engines </dev/null

# The examples of CONTRIBUTING.md and docs/development/recipes.md, followed in a copy of the repository, with the tests there.
test-guide: $(VENV)/installed-dev
	$(PYTEST) -m guide </dev/null

# Everything. Each part can be run alone; docs/development/recipes.md says what it protects. A part that fails does not stop the next.
# What its parts need of Debian: a browser, what the native parts of VS Code are compiled with, Java for Spark, and Emacs,
# Helix (in Debian since version 13) and its terminal for the configurations in docs/editors.md.
FULL_PACKAGES := chromium elpa-eglot elpa-yaml-mode emacs-nox g++ libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev \
  openjdk-17-jre-headless pkg-config tmux
FULL := demo test test-slow test-pure test-thorough test-playground site test-editors test-originals test-engines test-guide

full:
	@.ci/debian $(FULL_PACKAGES) $$(apt-cache show hx >/dev/null 2>&1 && echo hx)
	@mkdir -p .cache; : >.cache/full.log; failed=0; \
	for part in $(FULL); do \
	  start=$$(date +%s); result=passed; \
	  $(MAKE) --no-print-directory $$part || { result=FAILED; failed=1; }; \
	  echo "$$part $$result $$(($$(date +%s) - start)) s" >>.cache/full.log; \
	done; cat .cache/full.log; exit $$failed

# Without the libraries that are compiled (the C parser of YAML, jsonschema-rs and msgspec), what imports a module with one.
test-pure: $(VENV)/installed-dev
	PYTHONPATH=tests/pure $(PYTEST) -m "compiled and $(FAST)" </dev/null

# The core of the tests with each supported Python that is here, and the wheel.
matrix: $(VENV)/installed-dev
	@$(BIN)/python .ci/matrix.py </dev/null

# The systems that exports are held against: 1.5 GB, so `make test` asks them only where they are. A release is part of
# the stamp's name, so that another one is another file to make. Harbor's rewardkit installs only with Python 3.12 or
# newer: `make agreement PYTHON=python3.12`.
NPM_ORIGINALS := agentv@4.42.4 promptfoo@0.123.1
NPM_STAMP := .cache/originals/installed-$(subst $() ,-,$(NPM_ORIGINALS))

agreement: .cache/agreement/installed .cache/rubrics/installed $(NPM_STAMP)

.cache/agreement/installed: .ci/lock/agreement.txt
	$(PYTHON) -m venv .cache/agreement
	.cache/agreement/bin/python $(LOCKED)/agreement.txt
	@touch $@

.cache/rubrics/installed: .ci/lock/rubrics.txt
	$(PYTHON) -m venv .cache/rubrics
	.cache/rubrics/bin/python $(LOCKED)/rubrics.txt
	@touch $@

# The data engines that `rubric_lint.arrow.map_batches` runs in, for tests: 1.5 GB. PySpark needs Java 17 too.
engines: .cache/engines/installed

.cache/engines/installed: .ci/lock/engines.txt
	$(PYTHON) -m venv .cache/engines
	.cache/engines/bin/python $(LOCKED)/engines.txt
	@touch $@

# A small language model judges on a server of this machine, and the figures go into docs/development/figures.md. The
# server is compiled for processors of the last ten years (a virtual machine may announce more than it has): some ten
# minutes, then half an hour for the model.
real-judge: $(VENV)/installed-dev .cache/real-judge/installed
	PYTHONPATH=tools $(BIN)/python tools/real_judge.py

LLAMA := -DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON -DGGML_BMI2=ON

.cache/real-judge/installed: .ci/lock/real-judge-build.txt .ci/lock/real-judge.txt
	$(PYTHON) -m venv .cache/real-judge
	.cache/real-judge/bin/python $(LOCKED)/real-judge-build.txt
	CMAKE_ARGS="$(LLAMA)" .cache/real-judge/bin/python $(LOCKED)/real-judge.txt --no-build-isolation
	@touch $@

# promptfoo keeps its results with libsql, whose compiled half is one of the optional packages that are left out.
$(NPM_STAMP):
	rm -rf .cache/originals && mkdir -p .cache/originals
	npm install --silent --no-audit --no-fund --no-save --ignore-scripts --omit=optional --prefix .cache/originals \
	  $(NPM_ORIGINALS) \
	  "@libsql/$$(node -p 'process.platform + "-" + process.arch + (process.platform == "linux" ? "-gnu" : "")')@0.5.29"
	@touch $@

# Who scores what how: runs the conformance suite with each of those programs, and writes the tables of its page.
conformance: $(VENV)/installed-dev agreement
	PYTHONPATH=tools $(BIN)/python tools/conformance_page.py

# The wheels of the language server that the VS Code extension brings along, in .cache/builtin.
.PHONY: built-in
built-in: $(VENV)/installed-dev playground/node_modules/installed
	rm -rf .cache/builtin
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
	  --dest .cache/builtin --requirement vscode/requirements.txt
	$(BIN)/python -m build --no-isolation --wheel --outdir .cache/builtin >/dev/null

# The VS Code extension: its own tests, its package, what that finds without Python next to the native tool, and that
# package in VS Code itself with Chromium in front.
test-editors: $(VENV)/installed-dev vscode/node_modules/installed built-in
	$(BIN)/python tests/support/node.py
	vscode/scripts/install-editor.sh .cache/code-server
	@which chromium >/dev/null || { echo 'The tests in VS Code need Chromium (apt-get install chromium).' >&2; exit 1; }
	cd vscode && npm run --silent lint && npm run --silent test && npm run --silent package && \
	  npm run --silent test:builtin && npm run --silent test:editor

# The features of the extension in pictures, in build/film, as test-editors makes them too; here those in vscode/images,
# which its page, its walkthrough and the guide show, are renewed.
film: $(VENV)/installed-dev vscode/node_modules/installed built-in
	$(BIN)/python tests/support/node.py
	vscode/scripts/install-editor.sh .cache/code-server
	@which chromium >/dev/null || { echo 'The film needs Chromium (apt-get install chromium).' >&2; exit 1; }
	cd vscode && npm run --silent package && npm run --silent film

bench: $(VENV)/python
	$(BIN)/python tools/benchmarks/lint.py

# Counts what linting and scoring take, and keeps the figures that `make test` compares with. A commit that raises one
# says why.
speed: $(VENV)/installed
	$(BIN)/python tools/benchmarks/counts.py --write

# Which small changes of modules no test notices: of those that differ from BASE, or of MODULES="rubric_lint/... ...".
# ARGUMENTS="--most 20 --seed 1 -m ''" are those of the tool.
mutants: $(VENV)/installed-dev
	$(BIN)/python tools/mutants.py -m "$(FAST)" $(if $(BASE),--base $(BASE)) $(MODULES) $(ARGUMENTS)

# Looks for inputs that break a law, and keeps those it finds in tests/fuzz/finds, which `make test` runs. Ends after SECONDS.
SECONDS := 600
fuzz: $(VENV)/installed-dev
	@$(BIN)/python $(LOCKED)/fuzz.txt || echo 'atheris does not install here; hypothesis looks instead.'
	$(BIN)/python tests/fuzz --seconds $(SECONDS)

# Everything that repeats words or figures of the product: bundled schemas, what pages repeat from the code, snapshots,
# what commands print on pages. Fails when a test that renews finds something wrong besides. Read the diff.
# WORDS="words that a message loses" spares the pages and snapshots that do not have them.
renew: $(VENV)/installed-dev
	$(BIN)/python tools/bundle.py
	PYTHONPATH=tools $(BIN)/python tools/docs.py
	$(PYTEST) --renew $(if $(WORDS),--words "$$WORDS") </dev/null

# The false alarms and the power of the rules on judged data, drawn at random, for docs/development/figures.md. Takes
# six minutes.
false-alarms: $(VENV)/installed
	PYTHONPATH=tools $(BIN)/python tools/false_alarms.py

# What improve offers on judges with known faults, for docs/development/figures.md. Takes some minutes.
improvements: $(VENV)/installed
	PYTHONPATH=tools $(BIN)/python tools/improvements.py

# The documentation as a site, in build/site. `make playground` before it adds the playground.
site: $(VENV)/installed-site
	@PYTHONPATH=tools $(BIN)/python -m website

# After a change of the dependencies in pyproject.toml. Locked versions stay while they fit; `make lock UPGRADE=1` takes
# the newest.
lock: $(VENV)/installed-dev
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python .ci/lock.py $(if $(UPGRADE),--upgrade)

# Sets the version: make version NEW=1.2.3
version:
	@$(PYTHON) .ci/set_version.py $(NEW)

# What a release publishes, in dist. With TAG it stops when the tag is not that of the version.
packages: $(VENV)/installed-dev vscode/node_modules/installed built-in
	$(BIN)/python .ci/packages.py $(TAG)

clean:
	rm -rf $(VENV) .cache build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf playground/node_modules vscode/node_modules vscode/dist vscode/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The playground, in build/playground: rubric-lint in Pyodide, with what it needs of other packages.
playground: $(VENV)/installed-dev playground/node_modules/installed
	rm -rf .cache/playground
	$(BIN)/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
	  --dest .cache/playground --requirement playground/requirements.txt
	$(BIN)/python -m build --no-isolation --wheel --outdir .cache/playground >/dev/null
	cd playground && npm run --silent build

# The playground in Chromium, and its findings next to those of the native tool; `short` is its start and linting alone.
test-playground test-playground-short: playground
	@which chromium >/dev/null || { echo 'The tests of the playground need Chromium (apt-get install chromium).' >&2; exit 1; }
	cd playground && npm run --silent lint && \
	  CHROMIUM="$$(which chromium)" npm run --silent $(if $(findstring short,$@),test:short,test)

playground/node_modules/installed: playground/package.json playground/package-lock.json
	@node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' && npm --version >/dev/null || \
	  { echo 'The playground is built with Node.js 20 or newer and npm, which are not here.' >&2; exit 1; }
	cd playground && npm ci --silent
	@touch $@

vscode/node_modules/installed: vscode/package.json vscode/package-lock.json
	@node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' && npm --version >/dev/null || \
	  { echo 'The VS Code extension is built with Node.js 20 or newer and npm, which are not here.' >&2; exit 1; }
	cd vscode && npm ci --silent
	@touch $@

# The stamps make a second run quick.
$(VENV)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rubric-lint needs Python 3.11 or newer, this is " + \
	  sys.version.split()[0] + "; name another one with: make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed: pyproject.toml .ci/lock/run.txt rubric_lint/version.py $(VENV)/python
	$(BIN)/python $(LOCKED)/run.txt
	$(BIN)/python $(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-site: .ci/lock/site.txt $(VENV)/installed
	@$(BIN)/python $(LOCKED)/site.txt
	@touch $@

$(VENV)/installed-dev: .ci/lock/dev.txt $(VENV)/installed
	$(BIN)/python $(LOCKED)/dev.txt
	@touch $@
