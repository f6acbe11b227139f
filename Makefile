# SPDX-License-Identifier: Apache-2.0
# The conventional names; each is one script, which works without make.
.PHONY: all build release install install-files uninstall test-install deb test-deb test-clone documentation demo test lint format bench oracle torture sanitize clean

# Where “make install” puts things; DESTDIR goes in front of it, for those who make packages.
PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

all: build

# Not all of the package: what only tests run takes as long again.
build:
	Scripts/setup
	swift build -c release --product searchlight
	swift build -c release --product searchlight-worker
	swift build -c release --product searchlight-quicklook
	swift build -c release --product searchlightd
	swift build -c release --product CoreSpotlight
	swift build -c release --package-path Plugins --product Journal
	$(MAKE) -C Plugins/Bookmarks

# What is installed: the programs, the library with the Swift runtime, the extensions. Builds in a folder of its own.
release:
	Scripts/setup
	Scripts/release

# As another user than the one who builds: make release && sudo make install-files
install: release
	Scripts/install

install-files:
	Scripts/install

uninstall:
	Scripts/uninstall

test-install: release
	Scripts/test-install

# A Debian package in .build/deb; and its trial on a bare system: installed, used, removed.
deb: release
	Scripts/deb

test-deb: deb
	Scripts/test-deb

# The two commands of the README in a fresh clone on a bare system.
test-clone:
	Scripts/test-clone

documentation:
	Scripts/documentation

demo:
	Scripts/demo

test:
	Scripts/test

lint:
	Scripts/lint

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Torture Plugins/Package.swift Plugins/Sources Plugins/Tests

torture:
	Scripts/torture

# All tests under AddressSanitizer and ThreadSanitizer; an hour. For some of them: Scripts/sanitize --filter NAME
sanitize:
	Scripts/sanitize

# The order of 100,000 random searches beside a ranking of all items; half an hour. CASES=… SEED=… as Scripts/oracle --help says.
oracle:
	Scripts/oracle

bench:
	Scripts/bench --items $(or $(ITEMS),100000)

clean:
	rm -rf .build Benchmarks/.build Plugins/.build Torture/.build
