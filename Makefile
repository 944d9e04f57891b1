# SPDX-License-Identifier: Apache-2.0
# The front door. Each target installs what it needs (Debian packages by name), builds and runs.
#   make run      build and start Cairn on SQLite, on 127.0.0.1:7420, data in ./data
#   make test     the tests of the plain build, in minutes; ends with "N passed, N failed"
#   make verify   the remaining tests on PostgreSQL, larger samples, ASan+UBSan and TSan
#   make one      T=events: unit tests with "events" in their name and tests/api/events.test.mjs,
#                 on SQLite; ENGINE=postgres: on PostgreSQL
#   make clients  the clients in sdk/: their builds, types, tests, documents and examples
#   make chaos    three nodes and PostgreSQL, killed and cut CHAOS_CYCLES=100 times under load
#   make crash    the server, killed CRASH_CYCLES=1000 times under load on each engine; its disk fails
#   make bench    measure, print tables, write bench/RESULTS.md; BENCH="--only growth": a part of it;
#                 BENCH_DIR: where its data go, /tmp unless told
#   make fuzz     run the fuzzers, FUZZ_SECONDS=60 each, and print what they reached
#   make fresh    prove `make run` and `make test` inside a new Debian 12
#   make sdk      write what the clients have of the API anew, after a change of routes
#   make format   clang-format every C file in place
#   make install  DESTDIR=… PREFIX=/usr/local; make uninstall takes it away again
#   make deb      Debian packages into build-deb/packages
#   make try-deb  install, start, upgrade, remove and purge them in a new Debian 12

BUILD ?= build
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
CHAOS_CYCLES ?= 100
BENCH ?=
CRASH_CYCLES ?= 1000
LISTEN ?= 127.0.0.1:7420
DATA ?= ./data

.PHONY: build run test verify one clients chaos crash bench fuzz fresh sdk format install uninstall deb try-deb clean

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

# With tests: the library that makes a disk fail, and the sweep of faults, are among them.
crash:
	@tools/deps build test
	@tools/run_tests.py crash $(CRASH_CYCLES)

bench: build
	@tools/deps bench
	@bench/run.py $(BUILD)/src/cli/cairn $(BENCH)

fuzz:
	@tools/deps build test fuzz
	@tools/fuzz.py $(FUZZ_SECONDS)

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

# What the last `make install` put there.
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
