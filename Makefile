# Stackroom. `make demo` shows it, `make test` proves it, `make up` serves it here.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=
export JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION := 20
export JSII_SILENCE_WARNING_UNTESTED_NODE_VERSION := 1

.PHONY: help
help: # list the targets by what they are for
	@for group in Run Test Deploy Measure Develop; do \
		echo "$$group:"; \
		sed -nE "s/^([a-z-]+):.*## $$group: (.*)/  \1	\2/p" Makefile | expand -t 22; \
	done

# Everything is installed into .venv, pinned and with hashes. `make demo` and `make up` need the first
# part alone; the CDK, and what tests need, is the second. uv checks the hashes of constraints, too;
# pip takes only uv itself, by its lines of the lock. uv is not quiet, so that it shows progress.
$(BIN)/.serving: requirements.lock requirements.overrides.txt requirements.serving.txt pyproject.toml
	@echo "setting up .venv: the Python packages for serving (0.5 GB, once)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Stackroom needs Python 3.11 or newer: make PYTHON=python3.13 ...")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@sed -n '/^uv==/,/^[^ ]/{/^uv==/p;/--hash=/p;}' requirements.lock > .venv/uv.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r .venv/uv.lock
	@HATCH_BUILD_NO_HOOKS=true $(BIN)/uv pip install --python $(BIN)/python --constraint requirements.lock \
		--build-constraint requirements.lock --overrides requirements.overrides.txt \
		--overrides requirements.serving.txt --editable '.[brought]'
	@touch $@

$(BIN)/.installed: $(BIN)/.serving
	@echo "setting up .venv: the Python packages for tests, checks and deploying (1.7 GB more, once)"
	@$(BIN)/uv pip install --compile-bytecode --python $(BIN)/python --no-deps --require-hashes -r requirements.lock
	@touch $@

.PHONY: setup
setup: $(BIN)/.installed ## Develop: install everything into .venv

LOCK := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet

.PHONY: lock
lock: # pin again after a change of pyproject.toml, or of what tests install beside it
	$(LOCK) pyproject.toml --overrides requirements.overrides.txt --all-extras -o requirements.lock
	for set in tests/clients/requirements/*.in; do $(LOCK) "$$set" -o "$${set%.in}.lock" || exit 1; done
	for set in tests/clients/npm tests/conformance/npm infra/cdk_cli; do \
		npm install --prefix $$set --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved || exit 1; done

# Deploying (docs/deploy.md). ARGS reach the CDK: make deploy ARGS="-c knowledge_base_pool_size=2"
# The CLI moves faster than the library; 3.0.0 on npm was published by mistake.
CDK := $(BIN)/cdk
PROJECT ?= stackroom

$(BIN)/.cdk: infra/cdk_cli/package.json infra/cdk_cli/package-lock.json $(BIN)/.installed
	@rm -rf .venv/cdk && mkdir -p .venv/cdk && cp $(filter %.json,$^) .venv/cdk
	@npm ci --prefix .venv/cdk --ignore-scripts --no-audit --no-fund --silent
	@ln -sf ../cdk/node_modules/.bin/cdk $(CDK)
	@touch $@

.PHONY: cdk
cdk: $(BIN)/.cdk # install the CDK's CLI, by its lock file, as .venv/bin/cdk

.PHONY: synth
synth: setup ## Deploy: write the CloudFormation templates to cdk.out, offline
	$(BIN)/python infra/app.py -c project=$(PROJECT) $(ARGS)

# What the account's quotas say is part of what is checked, and of what is deployed.
PREFLIGHT = limits="$$($(BIN)/python infra/limits.py)" && \
	$(BIN)/python infra/preflight.py -c project=$(PROJECT) $$limits $(ARGS)

.PHONY: preflight
preflight: setup ## Deploy: list what would stop a deployment; reads from the account, changes nothing
	@$(PREFLIGHT)

.PHONY: deploy
deploy: setup cdk ## Deploy: deploy all stacks to the AWS account of your credentials
	@$(PREFLIGHT) && \
	$(CDK) deploy --all --require-approval never --outputs-file cdk.out/outputs.json -c project=$(PROJECT) $$limits $(ARGS)
	@$(BIN)/python infra/protect.py cdk.out/outputs.json
	@$(BIN)/python infra/outputs.py cdk.out/outputs.json

# For a collection of OpenSearch Serverless and a gateway that are there already; docs/opensearch.md.
OPENSEARCH_APP := $(BIN)/python infra/opensearch_app.py --bundle

.PHONY: deploy-opensearch
deploy-opensearch: setup cdk ## Deploy: let a gateway search an OpenSearch collection (docs/opensearch.md)
	$(CDK) deploy --app "$(OPENSEARCH_APP)" --output cdk.out/opensearch --require-approval never -c project=$(PROJECT) $(ARGS)

# Data and knowledge bases stay, in stacks of their own, so that `make deploy` finds them again.
.PHONY: destroy
destroy: setup cdk ## Deploy: remove the deployment and keep its data; PURGE=yes deletes the data too
	$(CDK) destroy --force -c project=$(PROJECT) -c bundling=none $(ARGS) $(PROJECT)-operations $(PROJECT)-console $(PROJECT)-gateway $(PROJECT)-pipeline
ifeq ($(PURGE),yes)
	@$(BIN)/python infra/purge.py --project $(PROJECT)
endif

# What is claimed of speed is measured here, never in a test.
.PHONY: bench-cold
bench-cold: setup ## Measure: print import time and zip size of each function
	@$(BIN)/python -m benchmarks.cold

.PHONY: bench-burst
bench-burst: setup ## Measure: load the pipeline in simulated time; ARGS=--full takes the full sizes
	@$(BIN)/python -m benchmarks.burst $(ARGS)

.PHONY: bench-reconciler
bench-reconciler: setup ## Measure: run a full round of the reconciler in simulated time; ARGS=--full
	@$(BIN)/python -m benchmarks.reconciler $(ARGS)

.PHONY: bench-costs
bench-costs: setup ## Measure: write what a deployment costs into docs/deploy.md
	@$(BIN)/python -m benchmarks.running_costs

.PHONY: bench-answers
bench-answers: setup ## Measure: compare answers with plain Retrieve on published sets; DATA=FOLDER ARGS=--help
	@$(BIN)/python -m benchmarks.answers $(DATA) $(ARGS)

.PHONY: bench-readers
bench-readers: setup ## Measure: compare what each format's reader gets with the truth; DATA=FOLDER ARGS=--help
	@$(BIN)/python -m benchmarks.readers $(DATA) $(ARGS)

.PHONY: structure
structure: setup ## Measure: print lines, imports and how far one request walks through the code
	@$(BIN)/python -m checks.structure
	@$(BIN)/python -m tests.structure.walk

# What people get who have no checkout: the wheel, with what it needs by the pins that we have, too.
WHEEL := .cache/wheel
PACKED := $(shell find src functions statemachines infra examples -name __pycache__ -prune -o -type f -print)
$(WHEEL)/.built: $(PACKED) hatch_build.py cdk.json README.md $(BIN)/.installed
	@echo "building the wheel (once per change)"
	@rm -rf $(WHEEL) && mkdir -p $(WHEEL)
	@$(BIN)/uv build --quiet --wheel --no-build-isolation --python $(BIN)/python --out-dir $(WHEEL)
	@touch $@

.PHONY: wheel
wheel: $(WHEEL)/.built # write .cache/wheel/stackroom-*.whl, which serves without checkout, make and Node

# The local mode and what proves it. ARGS reach the command: make up ARGS="--speed 20 --port 4566"
.PHONY: demo
demo: $(BIN)/.serving ## Run: start it, index two users' documents, ask about them as an agent, and stop
	@$(BIN)/stackroom demo $(ARGS)

# Options that change the templates take the CDK, which is in the second part, as OCR is.
.PHONY: up
up: $(BIN)/$(if $(filter -c --context% --sharing --ocr --retrieve-via% --least-score%,$(ARGS)),.installed,.serving) ## Run: serve on this machine until Ctrl-C; ARGS="--speed 20 --port 4566"
	@$(BIN)/stackroom up $(ARGS)

# A later option wins, so that ARGS may say -n 0 (one process, for a debugger) or -n 4. Tests that
# share a server run in one worker, and so does each file (conftest.py).
# Bytecode is kept, whatever the shell says: compiling it anew costs each process some seconds.
# Three on two cores: a quarter of the time, tests wait.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses=3 --dist=loadgroup

# tests/tiers.py says which tests are whose.
.PHONY: quick
quick: setup ## Test: run the use cases over fakes, and check schemas and pages: a minute
	$(PYTEST) --tier=quick -m "not processes and not slow" $(ARGS)

# The browser that tests/browser drives. Where it can't be installed, those tests say what to do.
CHROMIUM ?= /usr/bin/chromium
export CHROMIUM

.PHONY: browser
browser: # install Chromium for tests/browser, if there is none (Debian, as root)
	@tests/browser/install.sh

# For people to look at. Those of docs/console are replaced, and no others kept: no two runs are alike.
SCREENSHOTS := .cache/screenshots

.PHONY: screenshots
screenshots: setup browser # take pictures of every page into .cache/screenshots, and update docs/console
	@rm -rf $(SCREENSHOTS) && mkdir -p $(SCREENSHOTS)
	SCREENSHOTS=$(SCREENSHOTS) $(PYTEST) tests/browser/test_looks.py $(ARGS)
	@for picture in docs/console/*.png; do cp $(SCREENSHOTS)/$${picture##*/} $$picture || exit 1; done

# How long each suite of the three tiers takes, for docs/testing.md; on a quiet machine.
.PHONY: times
times: # run the three tiers, and write the table of docs/testing.md from what they took
	for tier in quick test prove; do $(MAKE) $$tier ARGS="--junitxml=.cache/times/$$tier.xml" || exit 1; done
	$(BIN)/python -m docs.test_times .cache/times

.PHONY: test
test: setup browser ## Test: run the tests of every change; ARGS="-k purge" selects some
	$(PYTEST) --tier=test $(ARGS)

.PHONY: prove
prove: setup browser ## Test: run all other tests, as before a release: crashes, attacks, browsers, clients
	$(PYTEST) --tier=prove $(ARGS)

.PHONY: clients
clients: setup # run every block of docs/clients.md
	$(PYTEST) --numprocesses=0 tests/clients $(ARGS)

.PHONY: chaos
chaos: setup ## Test: crash, lose, repeat and expire everything, and count what disagrees afterwards
	$(BIN)/python -m tests.campaigns.chaos $(ARGS)

.PHONY: permissions
permissions: setup ## Test: compare what each function calls with its IAM rights; writes docs/permissions.md
	@$(BIN)/python -m tests.campaigns.permissions

.PHONY: attack
attack: setup ## Test: try to reach another user's data; ARGS="--seed 1 --only filter"
	$(BIN)/python -m tests.campaigns.attack $(ARGS)

.PHONY: check
check: setup ## Test: check format, lint, types, import contracts and structure
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m checks.structure --check
	$(BIN)/python -m tests.structure.walk --check > /dev/null

.PHONY: generated
generated: asl tools docs templates ## Develop: write all files that are made from code: schemas, pages, state machine, templates

.PHONY: golden
golden: setup ## Develop: rewrite tests/golden, after a contract has named the change
	@$(BIN)/python -m tests.golden

# Of others, for the console's pages: the versions of package-lock.json, whose integrity npm checks.
VENDOR := .cache/vendor
VENDORED := src/stackroom_console/static/vendor

.PHONY: vendor
vendor: # copy what the console's pages load of others anew, by its lock file
	@rm -rf $(VENDOR) && mkdir -p $(VENDOR)
	@cp src/stackroom_console/package.json src/stackroom_console/package-lock.json $(VENDOR)
	@npm ci --prefix $(VENDOR) --omit=optional --ignore-scripts --no-audit --no-fund --silent
	@cp $(VENDOR)/node_modules/htmx.org/dist/htmx.min.js $(VENDORED)/htmx.min.js
	@cp $(VENDOR)/node_modules/htmx.org/LICENSE $(VENDORED)/htmx.LICENSE
	@cp $(VENDOR)/node_modules/js-md5/build/md5.min.js $(VENDORED)/md5.min.js
	@cp $(VENDOR)/node_modules/js-md5/LICENSE.txt $(VENDORED)/md5.LICENSE
	@cp $(VENDOR)/node_modules/@picocss/pico/css/pico.min.css $(VENDORED)/pico.min.css
	@cp $(VENDOR)/node_modules/@picocss/pico/LICENSE.md $(VENDORED)/pico.LICENSE
	@cp $(VENDOR)/node_modules/@fontsource-variable/figtree/files/figtree-latin-wght-normal.woff2 $(VENDORED)/figtree-latin.woff2
	@cp $(VENDOR)/node_modules/@fontsource-variable/figtree/files/figtree-latin-ext-wght-normal.woff2 $(VENDORED)/figtree-latin-ext.woff2
	@cp $(VENDOR)/node_modules/@fontsource-variable/figtree/LICENSE $(VENDORED)/figtree.LICENSE
	@rm -rf $(VENDORED)/pdfjs && mkdir -p $(VENDORED)/pdfjs/wasm
	@cd $(VENDOR)/node_modules/pdfjs-dist && cp -r LICENSE cmaps standard_fonts legacy/build/pdf.min.mjs \
		legacy/build/pdf.worker.min.mjs $(CURDIR)/$(VENDORED)/pdfjs
	@cp $(VENDOR)/node_modules/pdfjs-dist/wasm/*_nowasm_fallback.js $(VENDOR)/node_modules/pdfjs-dist/wasm/LICENSE_* $(VENDORED)/pdfjs/wasm
	@cd $(VENDORED) && find * -type f ! -name SHA256SUMS | LC_ALL=C sort | xargs sha256sum > SHA256SUMS

.PHONY: asl
asl: setup # write statemachines/*.asl.json anew from its source, statemachines/*.py
	@$(BIN)/python -m statemachines.generate

# `make up` serves these, so that it needs neither the CDK nor Node.
.PHONY: templates
templates: setup # write templates/ from infra/, its constructs, statemachines/ and cdk.json
	@$(BIN)/python -m stackroom_local.synthesis

.PHONY: tools
tools: setup # write infra/*_schemas, docs/tools.md and docs/tools-*.json anew from tools and events
	@$(BIN)/python -m functions.tool_targets
	@$(BIN)/python -m functions.event_publisher.schemas
	@$(BIN)/python -m docs.tools

.PHONY: docs
docs: setup # write docs/cli.md, configuration.md, fidelity.md, their JSON, and the tables of other pages
	@AWS_DEFAULT_REGION=us-east-1 $(BIN)/python -m docs.generate
	@$(BIN)/python -m docs.constructs
	@$(BIN)/python -m docs.store_prices
