# SPDX-License-Identifier: Apache-2.0
# The conventional target names. Each runs one script that also works without make.
.PHONY: all build extensions desktop release install install-desktop install-files uninstall test-install deb test-deb test-clone documentation demo test lint format bench oracle torture sanitize clean

# The folder of “make install”. DESTDIR precedes it, for the authors of packages.
PREFIX ?= /usr/local
DESTDIR ?=
export PREFIX DESTDIR

all: build

# Builds only the products: the programs of the tests would double the time.
build:
	Scripts/setup
	swift build -c release --product searchlight
	swift build -c release --product searchlight-worker
	swift build -c release --product searchlight-quicklook
	swift build -c release --product searchlightd
	swift build -c release --product CoreSpotlight
	swift build -c release --package-path Plugins --product Journal
	$(MAKE) -C Plugins/Bookmarks

# The extensions for mail and what else people have, which read formats by libraries of their own. The commands need none.
extensions:
	Scripts/extensions

# The search window, which needs GTK and libadwaita.
desktop:
	Scripts/desktop

# The installation: the programs, the library with the Swift runtime, and the extensions. The build has its own folder.
release:
	Scripts/setup
	Scripts/release

# Installs as another user than the user who builds: make release && sudo make install-files
install: release
	Scripts/install

# The same with the search window.
install-desktop: desktop install

install-files:
	Scripts/install

uninstall:
	Scripts/uninstall

test-install: release
	Scripts/test-install

# Builds a Debian package in .build/deb, and tests its installation, use and removal on a bare system.
deb: release
	Scripts/deb

test-deb: deb
	Scripts/test-deb

# Runs the two commands of the README in a fresh clone on a bare system.
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
	swift format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Desktop Examples Torture Plugins/Package.swift Plugins/Sources Plugins/Tests Plugins/Content

torture:
	Scripts/torture

# Runs all tests under AddressSanitizer and ThreadSanitizer, about an hour. For some tests: Scripts/sanitize --filter NAME
sanitize:
	Scripts/sanitize

# Compares 100,000 random searches with a ranking of all items, about half an hour. See Scripts/oracle --help for CASES and SEED.
oracle:
	Scripts/oracle

bench:
	Scripts/bench --items $(or $(ITEMS),100000)

clean:
	rm -rf .build Benchmarks/.build Desktop/.build Plugins/.build Plugins/Bookmarks/.build Plugins/Content/.build Torture/.build
