// SPDX-License-Identifier: Apache-2.0

/// Projects that build on one of Searchlight's kits.
extension Project {
    /// Returns a Rust crate.
    ///
    /// - Parameter crate: The folder of the crate `searchlight-extension`.
    static func rust(_ names: ProjectNames, crate: String) -> Project {
        var project = Project(names, steps: [firstRecipe] + simpleSteps(names))
        let quoted = crate.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        project.add(
            "Cargo.toml", "the build; depends on the crate searchlight-extension", PackageResources.cargo_toml_template,
            ["package": names.module.lowercased(), "crate": quoted])
        project.add("src/lib.rs", "the extension", PackageResources.extension_rs_template)
        project.addManifest(library: names.library, more: recipeFolder)
        project.addMakefile(
            needs: "Cargo.toml $(wildcard src/*.rs)",
            variables: """
                # The cargo of the system, if the cargo in PATH does not work. The cargo of rustup may need a download.
                CARGO ?= $(if $(shell cargo --version 2>/dev/null),cargo,$(or $(wildcard /usr/bin/cargo),cargo))
                ifeq ($(CARGO),/usr/bin/cargo)
                export RUSTC ?= /usr/bin/rustc
                endif

                """,
            build: """
                \t$(CARGO) build --release --offline --quiet --target-dir build/target
                \tcp build/target/release/libextension.so $(BUNDLE)/\(names.library)
                """)
        project.addReadme(
            """
            An extension of Searchlight in Rust 1.63 or later. The crate `searchlight-extension` at
            `\(crate)`
            has safe traits over the C interface; it needs no other crate, and nothing is downloaded. For another
            compiler: `make CARGO=/usr/bin/cargo RUSTC=/usr/bin/rustc`.
            """)
        return project
    }

    /// Returns a Go package.
    ///
    /// - Parameter kit: The folder of the module `searchlight`.
    static func go(_ names: ProjectNames, kit: String) -> Project {
        var project = Project(names, steps: [firstRecipe] + simpleSteps(names))
        let quoted = kit.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        project.add(
            "go.mod", "the build; depends on the module searchlight", PackageResources.go_mod_template,
            ["package": names.module.lowercased(), "kit": quoted])
        project.add("main.go", "the extension", PackageResources.extension_go_template)
        project.addManifest(library: names.library, more: recipeFolder)
        project.addMakefile(
            needs: "go.mod $(wildcard *.go)",
            variables: """
                GO ?= go
                # Nothing is downloaded: the module searchlight is a folder, and it needs no other.
                export GOPROXY := off
                export GOTOOLCHAIN := local
                export CGO_ENABLED := 1

                """,
            build: """
                \t$(GO) build -mod=mod -buildvcs=false -buildmode=c-shared -tags netcgo -ldflags='-s -w' -o $(BUNDLE)/\(names.library) .
                \trm -f $(BUNDLE)/lib\(names.module).h
                """)
        project.addReadme(
            """
            An extension of Searchlight in Go 1.19 or later. The module `searchlight` at
            `\(kit)`
            wraps the C interface; it needs no other module, and nothing is downloaded. cgo needs a C compiler.
            """)
        return project
    }

    /// Returns a project with one Zig source file.
    ///
    /// - Parameter kit: The folder of `searchlight.zig`.
    static func zig(_ names: ProjectNames, kit: String) -> Project {
        var project = Project(names, steps: [firstRecipe] + simpleSteps(names))
        project.add("extension.zig", "the extension", PackageResources.extension_zig_template)
        project.addManifest(library: names.library, more: recipeFolder)
        let escaped = kit.replacing("$", with: "$$")
        project.addMakefile(
            needs: "$(wildcard *.zig)",
            variables: """
                # Zig 0.17. From PyPI: python3 -m venv ~/.local/zig && ~/.local/zig/bin/pip install ziglang==0.17.1
                # Then: make ZIG="$(HOME)/.local/zig/bin/python -m ziglang"
                ZIG ?= zig
                # The module searchlight.
                KIT ?= \(escaped)
                \(Self.packageVariables)

                """,
            build: """
                \t$(ZIG) build-lib -dynamic -O ReleaseSafe -mcpu=baseline -lc $(PACKAGE_CFLAGS) $(PACKAGE_LIBS) --cache-dir build/zig \
                --dep searchlight -Mroot=extension.zig -Msearchlight="$(KIT)/searchlight.zig" \
                --name \(names.module) -femit-bin=$(BUNDLE)/\(names.library)
                """)
        project.addReadme(
            """
            An extension of Searchlight in Zig 0.17. The module `searchlight` at
            `\(kit)/searchlight.zig`
            wraps the C interface; nothing but the C library is linked, and nothing is downloaded.
            """)
        return project
    }

    /// Returns a Python module.
    ///
    /// - Parameters:
    ///   - searchlight: The path of Searchlight's source, for the header; `nil` if the header is
    ///     installed.
    ///   - kit: The folder with the loader and `searchlight.py`.
    static func python(_ names: ProjectNames, searchlight: String?, kit: String) -> Project {
        var project = Project(names, steps: [firstRecipe] + simpleSteps(names))
        project.add("extension.py", "the extension", PackageResources.extension_py_template)
        project.addManifest(library: names.library, more: recipeFolder)
        let escaped = kit.replacing("$", with: "$$")
        project.addMakefile(
            needs: "$(wildcard *.py)",
            variables: """
                # A Python below /usr, which the worker can read, with the files of its development package (python3-dev).
                PYTHON ?= /usr/bin/python3
                CC := $(firstword $(shell command -v cc gcc clang))
                # The loader, and searchlight.py.
                KIT ?= \(escaped)
                \(Self.headerVariables(searchlight, folders: ["include"]))
                # The folders of the standard library: its modules in Python, and those in C.
                LIBRARY = $(shell $(PYTHON) -IS -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
                DYNAMIC = $(shell $(PYTHON) -IS -c 'import sysconfig; print(sysconfig.get_config_var("DESTSHARED"))')

                """,
            build: """
                \trm -rf $(BUNDLE)/python
                \tmkdir $(BUNDLE)/python
                \tcp $(wildcard *.py) "$(KIT)/searchlight.py" $(BUNDLE)/python
                \t$(PYTHON) -IS -m compileall -q --invalidation-mode unchecked-hash $(BUNDLE)/python
                \t$(CC) -O2 -std=c11 -Wall -Wextra -fvisibility=hidden -shared -fPIC $(HEADERS) \
                $(shell $(PYTHON)-config --includes) -DSEARCHLIGHT_PYTHON_PROGRAM='"$(PYTHON)"' -DSEARCHLIGHT_PYTHON_LIBRARY='"$(LIBRARY)"' \
                -DSEARCHLIGHT_PYTHON_DYNAMIC='"$(DYNAMIC)"' "$(KIT)/loader.c" "$(KIT)/host.c" -o $(BUNDLE)/\(names.library) \
                $(shell $(PYTHON)-config --embed --ldflags)
                """)
        project.addReadme(
            """
            An extension of Searchlight in Python 3.9 or later, with the standard library. `make` compiles a loader in C, which
            runs the interpreter of this machine in the worker (on Debian: `apt install python3-dev gcc`). The module
            `searchlight` is documented in
            `\(kit)/searchlight.py`.
            """)
        return project
    }
}
