# SPDX-License-Identifier: Apache-2.0
# The conventional names; each is one script, which works without make.
.PHONY: all build demo test lint format bench torture clean

all: build

build:
	swift build -c release
	swift build -c release --package-path Plugins --product Journal

demo:
	Scripts/demo

test:
	Scripts/test

lint:
	Scripts/lint

format:
	swift format --in-place --parallel --recursive Package.swift Sources Tests Plugins/Package.swift Plugins/Sources Plugins/Tests

torture:
	Scripts/torture

bench:
	swift run -c release benchmarks --items $(or $(ITEMS),100000)

clean:
	rm -rf .build Plugins/.build
