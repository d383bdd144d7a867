# `make` alone lists the commands. Everything installs into .venv, from hashed pins, when it is missing or out of date.

PYTHON ?= python3
BIN := .venv/bin
# Checks and formats the console's JavaScript and CSS.
BIOME = if [ -x .node-tools/node_modules/.bin/biome ]; then .node-tools/node_modules/.bin/biome $(1) --error-on-warnings; \
	else echo 'npm is not installed, so JavaScript and CSS were not checked.'; fi

.PHONY: help setup run test check fmt bench timing docs release pins clean

help:
	@echo 'make run     serve on 127.0.0.1:8000 with an SQLite file (installs what is missing)'
	@echo 'make test    run every test (installs what is missing)'
	@echo 'make check   lint, types and the direction of imports'
	@echo 'make fmt     format the code'
	@echo 'make bench   measure speed, growth and memory against the targets in ten minutes, or QUICK=1 in two'
	@echo 'make timing  measure whether the time of a refused sign-in tells why it was refused'
	@echo 'make docs    build the documentation site in site/, with strict links and search'
	@echo 'make release build wheel and sdist in dist/, check them, and serve the console from the installed wheel'
	@echo 'make setup   make .venv with the program and the development tools'
	@echo 'make pins    bring requirements/*.txt up to date with pyproject.toml'
	@echo 'make clean   delete .venv, what bench has installed, and caches (never your data)'

run: .venv/run
	@$(BIN)/tickover serve

setup: .venv/dev

test: .venv/dev
	$(BIN)/pytest tests/core tests/rpc --cov --cov-report=term-missing:skip-covered --cov-fail-under=100
	$(BIN)/pytest --ignore tests/core --ignore tests/rpc

check: .venv/dev .node-tools/ready
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(call BIOME,check)

fmt: .venv/dev .node-tools/ready
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	@$(call BIOME,check --write)

bench: .venv/dev .venv-bench/ready .venv-bench/allauth .node-bench/ready
	@$(BIN)/python -m bench $(if $(QUICK),--quick)

timing: .venv/dev
	$(BIN)/python -m bench.studies.login_timing

# The pages keep their places, so that links between them work here, on a code host and on the site.
DOCS := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs examples/budget_app/README.md bench/report.txt bench/report.json bench/report.svg
docs: .venv-tools/ready
	@rm -rf .docs && mkdir .docs && cp -R --parents $(DOCS) .docs
	@NO_MKDOCS_2_WARNING=1 .venv-tools/bin/mkdocs build --quiet --strict
	@echo 'The site is in site/. Open site/index.html.'

release: .venv/dev .venv-tools/ready
	@rm -rf dist
	@$(BIN)/uv build --quiet --no-build-isolation --python $(BIN)/python
	@.venv-tools/bin/twine check --strict dist/*
	@$(BIN)/python scripts/check_release.py dist/*.whl

# Universal and hashed: the same pins on every platform, and no place where they came from.
PIN := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
pins: .venv/dev
	$(PIN) --upgrade pyproject.toml --extra server --group build -o requirements/run.txt
	$(PIN) --upgrade pyproject.toml --extra server --group build --group dev -c requirements/run.txt -o requirements/dev.txt
	$(PIN) --upgrade --no-deps --group postgres -o requirements/postgres.txt
	$(PIN) --upgrade --group tools -o requirements/tools.txt
	$(PIN) --upgrade --group bench -c requirements/run.txt -o requirements/bench.txt
	$(PIN) --upgrade --group bench-allauth -c requirements/bench.txt -o requirements/bench-allauth.txt

clean:
	rm -rf .venv .venv-bench .venv-tools .node-bench .node-test .node-tools .bench .docs site dist .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage .import_linter_cache

# pip comes last, so an environment that was broken off while it was made is made again.
.venv/bin/pip:
	@sh scripts/make-venv.sh $(PYTHON)

.venv/run: requirements/run.txt pyproject.toml .venv/bin/pip
	@echo 'Installing Tickover into .venv ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev: requirements/dev.txt .venv/run
	@echo 'Installing the development tools into .venv ...'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

# Beside .venv, because the tests need neither mkdocs nor twine.
.venv-tools/ready: requirements/tools.txt | .venv/bin/pip
	@echo 'Installing mkdocs and twine into .venv-tools ...'
	@$(BIN)/python -m venv --clear .venv-tools
	@.venv-tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/tools.txt
	@touch $@

# Beside .venv, because what the program is compared with is no part of it. The mark comes last, as pip does above.
.venv-bench/ready: requirements/bench.txt | .venv/bin/pip
	@echo 'Installing what Tickover is compared with into .venv-bench ...'
	@$(BIN)/python -m venv --clear .venv-bench
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	@touch $@

.venv-bench/allauth: requirements/bench-allauth.txt .venv-bench/ready
	@echo 'Installing django-allauth into .venv-bench ...'
	@.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench-allauth.txt
	@touch $@

# Needs Node.js with npm and, where there is no binary of better-sqlite3 to be had, a C++ compiler.
.node-bench/ready: bench/baselines/better_auth/package.json bench/baselines/better_auth/.npmrc
	@echo 'Installing better-auth into .node-bench ... (where it has to be compiled, some minutes)'
	@mkdir -p .node-bench
	@cp $^ .node-bench
	@if command -v npm > /dev/null; then npm install --prefix .node-bench --silent --no-audit --no-fund && touch $@; \
	else echo 'There is no npm, so better-auth will not be measured.'; fi

.node-tools/ready: tools/package.json tools/.npmrc
	@mkdir -p .node-tools
	@cp $^ .node-tools
	@if command -v npm > /dev/null; then echo 'Installing Biome into .node-tools ...'; \
	npm install --prefix .node-tools --loglevel=error --no-audit --no-fund --ignore-scripts && touch $@; fi
