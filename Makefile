# Every command of the project, spelled once: people, hooks and .ci/run all call this file.
# Nothing outside the checkout is touched; Python lives in .venv, Rust output in target/.

PYTHON  ?= $(shell command -v python3.11 || command -v python3)
VENV    := .venv
BIN     := $(VENV)/bin
DEPS    := $(VENV)/.deps
BUILT   := $(VENV)/.built
PEERS   := .venv-peers
WHEELS  := dist
FIGURES := bench/results/gameboy.json
SEQUENCES := crates/gb-core/src/cpu/sequences/list.rs
SHOWDOWN := tests/oracle/showdown
PLAYED  := $(SHOWDOWN)/node_modules/.installed

# Figures and accuracy suites are only meaningful for optimised code, so the extension is always
# built in release mode; `make test` runs the quick Rust tests in debug mode as well.
RUST_SOURCES   := $(shell find crates -path '*/src/*' -name '*.rs') $(wildcard crates/*/*.toml crates/*/build.rs) Cargo.toml Cargo.lock
SHARED         ?= $(if $(HYBRIDENV_SHARED),$(HYBRIDENV_SHARED),$(wildcard $(abspath ../shared)))
DEMO_ARGS      ?=
BENCH_ARGS     ?=
FUZZ           ?= 10000
CARGO_HOME     ?= $(HOME)/.cargo
PYTEST_ARGS    ?=

export HYBRIDENV_SHARED := $(SHARED)
export CARGO_TERM_COLOR ?= auto
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help

##@ Use it

.PHONY: help
help: ## Show this text
	@awk 'BEGIN { FS = ":.*## "; print "make TARGET" } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

.PHONY: setup
setup: $(DEPS) ## Create .venv with the locked development tools

.PHONY: build
build: $(BUILT) ## Build the native module (release) and install the package into .venv

.PHONY: demo
demo: $(BUILT) ## Build, then play the embedded game with 128 machines next to PyBoy (demo/)
	$(BIN)/hybridenv demo $(DEMO_ARGS)

##@ Check it

.PHONY: test
test: test-rust test-python test-wheel ## Run every test: Rust, Python (warnings are errors), wheel

.PHONY: test-rust
test-rust: ## Rust tests, in debug (overflow checks on) and in release
	cargo test --workspace
	cargo test --workspace --release

.PHONY: test-python
test-python: $(BUILT) $(PLAYED) ## Python tests: API, Gymnasium, command line, lockstep against PyBoy and Showdown
	$(BIN)/pytest -m "not wheel and not slow" $(PYTEST_ARGS)

.PHONY: test-slow
test-slow: $(BUILT) $(PLAYED) ## Python tests that take minutes: a million steps, whole training runs
	$(BIN)/pytest -m slow $(PYTEST_ARGS)

.PHONY: showdown
showdown: $(PLAYED) ## Install the pinned Pokémon Showdown, the oracle of battles (needs npm; tests skip without it)

.PHONY: pokemon-parity
pokemon-parity: $(BUILT) $(PLAYED) ## Play 21,500 new Pokémon battles beside Showdown, every number compared (a quarter of an hour)
	$(BIN)/python -m tests.envs.pokemon.parity --output bench/results/pokemon_parity.json

.PHONY: test-wheel
test-wheel: wheel ## Install the wheel into an empty environment and run it there
	HYBRIDENV_WHEELS=$(abspath $(WHEELS)) $(BIN)/pytest -m wheel tests/wheel $(PYTEST_ARGS)

.PHONY: lint
lint: $(BUILT) ## Formatting, clippy, ruff, mypy --strict, native stub, README's figures
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=python $(BIN)/python -m mypy.stubtest hybridenv._native
	$(BIN)/python -m bench.readme_table --check

.PHONY: format
format: $(DEPS) ## Format Rust and Python in place
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

.PHONY: fuzz
fuzz: ## Try FUZZ=N new random cartridges, programs and states in each fuzz test (10,000)
	HYBRIDENV_FUZZ=$(FUZZ) cargo test --release -p gb-core --test suite -- robustness
	HYBRIDENV_FUZZ=$(FUZZ) cargo test --release -p gb-core --test suite -- color_programs
	HYBRIDENV_FUZZ=$(FUZZ) cargo test --release -p gb-core --lib -- ppu::tests::alike

##@ Measure it

.PHONY: bench
bench: $(BUILT) $(PEERS)/.deps ## Compare with PyBoy and other emulators, interleaved; refresh the README's tables
	$(BIN)/python -m bench $(BENCH_ARGS)
	test ! -e $(FIGURES) || $(BIN)/python -m bench.readme_table

.PHONY: bench-pong
bench-pong: $(BUILT) $(PEERS)/.deps ## Pong's steps a second, with gymnax beside it; refresh the README's table
	$(BIN)/python -m bench.pong $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: bench-ppo
bench-ppo: $(BUILT) $(PEERS)/.deps ## PPO's steps a second, beside PyTorch, and the time to learn Pong; refresh the README's table
	$(BIN)/python -m bench.ppo $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: bench-profile
bench-profile: $(BUILT) ## Where the time of training goes, for three sizes of networks; refresh the tables of README and docs
	$(BIN)/python -m bench.profile_training $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: bench-locomotion
bench-locomotion: $(BUILT) $(PEERS)/.deps ## Steps a second and errors of half cheetah, hopper and walker beside MuJoCo, MJX and Brax; refresh the README's table
	$(BIN)/python -m bench.locomotion $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: bench-pokemon
bench-pokemon: $(BUILT) $(PLAYED) $(PEERS)/.deps ## Pokémon battles' steps a second beside Showdown and poke-env; refresh the README's table
	$(BIN)/python -m bench.pokemon $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: bench-learning
bench-learning: $(BUILT) $(PEERS)/.deps ## Time to learn half cheetah, hopper and walker, and curves beside PyTorch on Gymnasium; refresh the tables
	$(BIN)/python -m bench.learning $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: bench-transfer
bench-transfer: $(BUILT) ## Level 4: train ten policies here and ten on Gymnasium's half cheetah, play all on both; refresh the table
	$(BIN)/python -m bench.transfer $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: policies
policies: $(BUILT) ## Train the small policies that tests and benchmarks play (bench/policies)
	$(BIN)/python -m bench.policy

.PHONY: bench-verify
bench-verify: $(BUILT) ## What comparing two environments costs; refresh the table in docs/verify.md
	$(BIN)/python -m bench.verify $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: verify-pairs
verify-pairs: $(BUILT) ## Compare PyBoy, MuJoCo and Pong's rules with what is here, 100 episodes each, every step (minutes)
	$(BIN)/python -m bench.pairs $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: transfer-gameboy
transfer-gameboy: $(BUILT) ## Train policies in PyBoy and here, judge each on both (a quarter of an hour)
	$(BIN)/python -m bench.gameboy_transfer $(BENCH_ARGS)
	$(BIN)/python -m bench.readme_table

.PHONY: accuracy
accuracy: $(BUILT) ## Count what every judge passes; refresh the file of counts and the README's tables
	$(BIN)/python -m tests.oracle.ratchet
	$(BIN)/python -m bench.accuracy
	test ! -e $(FIGURES) || $(BIN)/python -m bench.readme_table

.PHONY: planar-models
planar-models: $(BUILT) ## Read HalfCheetah, Hopper and Walker2d from Gymnasium's MJCF files with MuJoCo
	$(BIN)/python -m bench.planar_models

.PHONY: pokemon-tables
pokemon-tables: $(BUILT) $(PLAYED) ## Read moves, species and random teams of generation 1 from Pokémon Showdown
	$(BIN)/python -m bench.pokemon_tables

.PHONY: pokemon-traces
pokemon-traces: $(BUILT) $(PLAYED) ## Record anew the Pokémon battles that the tests replay
	$(BIN)/python -m tests.envs.pokemon.record

.PHONY: bench-rust
bench-rust: ## Criterion: instruction, frame, render and state
	cargo bench --workspace

.PHONY: sequences
sequences: ## Choose anew which instructions the processor executes as one (plays the shared games)
	cargo run --release --locked -p gb-core --example sequences -- $(SEQUENCES) \
	  $(wildcard $(SHARED)/data/gameboy/games/*/*.gb $(SHARED)/data/gameboy/games/*/*.gbc) \
	  python/hybridenv/data/polar_post.gb
	cargo fmt --all

##@ Ship it

# A wheel tells nothing of the machine that built it: the compiler's flags that shorten the paths of
# the checkout and of the downloaded crates. They come after a user's own flags, and apart from
# the development build, which would otherwise be compiled anew each time.
REMAP = printf -- ' --remap-path-prefix=%s' '$(CURDIR)=hybridenv' '$(CARGO_HOME)=cargo'; \
  for crates in '$(CARGO_HOME)'/registry/src/*; do \
    printf -- ' --remap-path-prefix=%s' "$$crates=crates"; done

.PHONY: wheel
wheel: $(DEPS) ## Build one abi3 wheel into dist/
	rm -rf $(WHEELS)
	cargo fetch --locked --quiet
	RUSTFLAGS="$$RUSTFLAGS $$($(REMAP))" \
	  $(BIN)/maturin build --release --locked --target-dir target/wheel --out $(WHEELS)

.PHONY: docs
docs: $(DEPS) ## Build the documentation into site/ (reads docstrings, needs no network)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: rebuild-game
rebuild-game: ## Rebuild the embedded game from source (needs SDCC)
	$(PYTHON) games/polar_post/build.py

.PHONY: lock
lock: $(DEPS) ## Resolve requirements-dev.txt anew from pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev \
	  --custom-compile-command "make lock" --output-file requirements-dev.txt pyproject.toml

.PHONY: clean
clean: ## Remove everything that the other targets made
	rm -rf $(VENV) $(PEERS) $(SHOWDOWN)/node_modules target $(WHEELS) site demo .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find python -name '__pycache__' -prune -exec rm -rf {} +
	rm -f python/hybridenv/_native*.so

$(DEPS): requirements-dev.txt
	@echo "==> creating $(VENV) with the locked tools (about half a minute)"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	@touch $@

# Peers that are measured but not needed for development; a benchmark does without those that do
# not install here.
$(PEERS)/.deps: bench/requirements-peers.txt
	@echo "==> creating $(PEERS) with the peers that install here"
	$(PYTHON) -m venv $(PEERS)
	grep -v '^#' $< | while read -r peer; do \
	  $(PEERS)/bin/python -m pip install --quiet "$$peer" || echo "$$peer does not install here"; done
	@touch $@

$(PLAYED): $(SHOWDOWN)/package-lock.json
	@if command -v npm >/dev/null; then \
	  npm --prefix $(SHOWDOWN) ci --silent && touch $@; \
	else echo "npm is not installed: the tests that play with Pokémon Showdown will skip" >&2; fi

$(BUILT): $(DEPS) pyproject.toml $(RUST_SOURCES)
	@echo "==> building hybridenv._native with optimisation (a minute or two the first time)"
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked
	@touch $@
