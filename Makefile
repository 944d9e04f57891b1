# SPDX-License-Identifier: Apache-2.0
# Entry points. Each target installs the Debian packages that it needs, builds, and runs.
#   make run      build and start Cairn on SQLite, on 127.0.0.1:7420, data in ./data
#   make test     run the tests of the plain build, in minutes; ends with "N passed, N failed"
#   make verify   run the remaining tests on PostgreSQL, larger samples, ASan+UBSan and TSan
#   make one      T=events: run the unit tests with "events" in their name and tests/api/events.test.mjs,
#                 on SQLite; ENGINE=postgres: on PostgreSQL
#   make clients  build and test the clients in sdk/, with their types, documents and examples
#   make chaos    kill and cut off three nodes and PostgreSQL under load, CHAOS_CYCLES=100 times
#   make crash    kill the server under load, CRASH_CYCLES=1000 times on each engine; make its disk fail
#   make bench    measure, print tables, write bench/RESULTS.md; BENCH="--only growth": one section;
#                 BENCH_DIR: the directory for data, /tmp by default
#   make fuzz     run the fuzzers, FUZZ_SECONDS=60 each, and print their coverage
#   make mutants  SEED=1 COUNT=60: change src in 60 places, one at a time; print those that no test notices
#   make fresh    run `make run` and `make test` in a new Debian 12
#   make sdk      regenerate the clients' API code after a change of routes
#   make format   clang-format every C file in place
#   make install  DESTDIR=… PREFIX=/usr/local; make uninstall removes the files again
#   make deb      build Debian packages in build-deb/packages
#   make try-deb  install, start, upgrade, remove and purge the packages in a new Debian 12

BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
CHAOS_CYCLES ?= 100
BENCH ?=
CRASH_CYCLES ?= 1000
SEED ?= 1
COUNT ?= 60
LISTEN ?= 127.0.0.1:7420
DATA ?= ./data

.PHONY: build run test verify one clients chaos crash bench fuzz mutants fresh sdk format install uninstall deb try-deb clean

build:
	@tools/deps build
	@[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD) -Dtests=false --buildtype=release --prefix=$(PREFIX) >/dev/null
	@ninja -C $(BUILD) --quiet

run: build
	$(BUILD)/src/cli/cairn serve --listen $(LISTEN) --data $(DATA)

test:
	@tools/deps build test
	@tools/run_tests.py test

verify:
	@tools/deps build test
	@tools/run_tests.py verify

one:
	@[ -n "$(T)" ] || { echo "make one T=events: which test?" >&2; exit 2; }
	@tools/deps build test
	@tools/run_tests.py one $(T) $(ENGINE)

clients:
	@tools/deps build test
	@tools/run_tests.py clients

chaos: build
	@tools/deps test
	@tools/run_tests.py chaos $(CHAOS_CYCLES) $(BUILD)/src/cli/cairn

# Needs a build with tests, which has the library that makes a disk fail and the fault sweep.
crash:
	@tools/deps build test
	@tools/run_tests.py crash $(CRASH_CYCLES)

bench: build
	@tools/deps bench
	@bench/run.py $(BUILD)/src/cli/cairn $(BENCH)

fuzz:
	@tools/deps build test fuzz
	@tools/fuzz.py $(FUZZ_SECONDS)

mutants:
	@tools/deps build test
	@tools/mutants.py --seed $(SEED) --count $(COUNT)

fresh:
	@tools/deps fresh
	@tools/fresh

sdk: build
	@python3 tools/sdk $(BUILD)/src/cli/cairn

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: build
	@meson configure $(BUILD) -Dprefix=$(PREFIX)
	meson install -C $(BUILD) $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# Removes the files that the last `make install` installed.
uninstall:
	ninja -C $(BUILD) uninstall

deb:
	@tools/deps build deb
	@tools/deb

try-deb:
	@tools/deps build deb fresh
	@tools/try_deb

clean:
	rm -rf build build-*
