// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SystemSupport
import Testing

@testable import ExtensionValidation
@testable import SearchlightEngine

/// “searchlight extensions new”: its projects build unchanged, and pass the validator.
@Suite("A new extension", .timeLimit(.minutes(10)))
struct NewExtensionTests {
    private let command: Command
    private var harness: Harness { command.harness }

    init() throws { command = Command(harness: try Harness()) }

    /// Writes two recipes to the folder where the new extension searches.
    private func writeRecipes() throws {
        try FileManager.default.createDirectory(
            atPath: harness.folder + "/Recipes", withIntermediateDirectories: true)
        for (title, text) in [("Pancakes", "flour, milk, eggs"), ("Rice pudding", "rice, milk, cinnamon")] {
            try Data(text.utf8).write(to: URL(filePath: harness.folder + "/Recipes/\(title).txt"))
        }
    }

    /// Checks that all results are good. On a busy machine a slow load time is only a warning.
    private func expectNoRemark(_ report: ValidationReport) {
        let remarks = report.checks.filter { check in
            check.check == .loadTime ? check.result.isFailure : ![.passed, .skipped].contains(check.result.kind)
        }
        #expect(remarks.isEmpty, "\(remarks)")
    }

    /// Checks that “make run” indexes both recipes in a scratch index, and finds one. The project
    /// calls the program that made it.
    private func checkRun(_ variables: String = "") throws {
        let run = try command.shell("env -u SEARCHLIGHT \(variables) make -s -C project run")
        #expect(run.status == 0, "\(run.output)")
        #expect(run.output.contains("2 items indexed") && run.output.contains("Rice pudding"), "\(run.output)")
        #expect(!run.output.contains("are not watched"), "\(run.output)")
        #expect(try !command("list").output.contains("Rice pudding"), "the user's index has no item")
    }

    /// Checks that a built bundle follows the files with this extension in a folder.
    private func checkFollowing(_ bundle: String, _ folder: String, _ ending: String) async throws {
        let identifier = URL(filePath: bundle).deletingPathExtension().lastPathComponent
        let place = harness.extensions + "/" + identifier + ".searchext"
        try FileManager.default.copyItem(atPath: bundle, toPath: place)
        defer { try? FileManager.default.removeItem(atPath: place) }
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(identifier)
            func update(_ changes: [FileChange]) async throws {
                try await engine.onHost { (host) throws(ExtensionError) in
                    try await host.updateFiles(changes, identifier)
                }
                let comparison = try await engine.compare(identifier)
                #expect(comparison.isEqual, "\(comparison)")
            }
            func path(_ name: String) -> String { folder + "/" + name + ending }
            func write(_ text: String, _ name: String) throws {
                try Data(text.utf8).write(to: URL(filePath: path(name)))
            }
            try write("saffron", "New")
            try write("saffron", ".New.swp")
            try await update([.changed(path: path("New")), .changed(path: path(".New.swp"))])
            #expect(try await engine.search("saffron", bundle: nil, limit: 5).total == 1)
            try write("cardamom", "New")
            rename(path("New"), path("Newer"))
            try await update([.moved(from: path("New"), to: path("Newer"))])
            #expect(try await engine.search("saffron", bundle: nil, limit: 5).total == 0)
            #expect(try await engine.search("cardamom", bundle: nil, limit: 5).total == 1)
            // A text of more than 1 MiB is cut, and does not stop the others.
            try write(String(repeating: "nutmeg ", count: 150_000), "Long")
            try await update([.changed(path: path("Long"))])
            #expect(try await engine.search("nutmeg", bundle: nil, limit: 5).total == 1)
            unlink(path("Long"))
            try await update([.removed(path: path("Long"))])
            unlink(path("Newer"))
            unlink(path(".New.swp"))
            try await update([.removed(path: path("Newer"))])
            #expect(try await engine.search("cardamom", bundle: nil, limit: 5).total == 0)
        }
    }

    @Test("in C is built, installed, checked and searched by its own Makefile")
    func c() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.my-recipes", "--language", "c", "--directory", folder)
        #expect(made.status == 0, "\(made.output)")
        #expect(made.output.contains("\(BuiltProducts.repository)/docs/EXTENSIONS.md"), "\(made.output)")
        #expect(
            made.output.contains("  MyRecipes.c  ") && made.output.contains("\n  make validate\n"), "\(made.output)")
        let source = try String(contentsOfFile: folder + "/MyRecipes.c", encoding: .utf8)
        #expect((80...170).contains(source.split(separator: "\n").count))
        try checkRun()
        let build = try command.shell(
            """
            make -s -C project install CC="\(CFixture.compiler) -Werror -pedantic" SEARCHLIGHT="$SEARCHLIGHT" \
            SEARCHLIGHT_HEADERS=\(CFixture.includeFolder)
            """)
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
        let report = try await harness.validate(
            folder + "/build/com.example.my-recipes.searchext", ValidationCheck.judgeable)
        expectNoRemark(report)
        try await checkFollowing(
            folder + "/build/com.example.my-recipes.searchext", harness.folder + "/Recipes", ".txt")
        let reindex = try command("reindex", "com.example.my-recipes")
        #expect(reindex.status == 0 && reindex.output.contains("2 items indexed"), "\(reindex.output)")
        #expect(try command("search", "pudding").output.contains("Rice pudding"))
        // As an author would continue: other items, a second source file.
        let changed = try command.shell(
            """
            sed -i 's/"textContent", text/"textContent", "waffles"/' project/MyRecipes.c
            echo 'int second_source(void); int second_source(void) { return 2; }' >project/second.c
            make -s -C project install CC=\(CFixture.compiler) SEARCHLIGHT_HEADERS=\(CFixture.includeFolder)
            grep -q second_source project/build/*/libMyRecipes.so
            """)
        #expect(changed.status == 0 && changed.output.isEmpty, "\(changed.output)")
        let again = try command("reindex", "com.example.my-recipes")
        #expect(again.status == 0 && again.output.contains("2 items indexed"), "\(again.output)")
        #expect(try command("search", "waffles").output.contains("Pancakes"))
        #expect(try !command("search", "flour").output.contains("Pancakes"))
        try checkLog()
        let removed = try command.shell("make -s -C project uninstall clean")
        #expect(removed.status == 0, "\(removed.output)")
        let left = try FileManager.default.contentsOfDirectory(atPath: harness.folder + "/data/searchlight/extensions")
        #expect(left == [])
    }

    /// Checks that “make run” shows the output of an extension in C, links a library, and reports a
    /// failure.
    private func checkLog() throws {
        let prints = try command.shell(
            """
            sed -i 's/^#include <dirent.h>/#include <zlib.h>\\n&/' project/MyRecipes.c
            sed -i 's/^    char \\*text = read_recipe(path, is_unknown);/    fprintf(stderr, "reads with %s\\\\n", zlibVersion());\\n&/' \
            project/MyRecipes.c
            make -s -C project run CC=\(CFixture.compiler) PACKAGES=zlib WORD=pancakes
            """)
        #expect(prints.status == 0 && prints.output.contains("reads with 1."), "\(prints.output)")
        #expect(prints.output.contains("Pancakes") && !prints.output.contains("Rice pudding"), "\(prints.output)")
        let failing = try command.shell(
            "mv Recipes Away; make -s -C project run PACKAGES=zlib; status=$?; mv Away Recipes; exit $status")
        #expect(failing.status != 0 && failing.output.contains("cannot be read now"), "\(failing.output)")
        for advice in ["README.md has the command", "make validate", "work”: \(BuiltProducts.repository)/docs"] {
            #expect(failing.output.contains(advice), "\(failing.output)")
        }
        let other = try command.shell("make -s -C project run PACKAGES=zlib WORD=sago")
        #expect(other.output.contains("make run WORD="), "\(other.output)")
        let absent = try command.shell("make -s -C project check PACKAGES=zlib SEARCHLIGHT=/absent/searchlight")
        #expect(absent.status != 0 && absent.output.contains("SEARCHLIGHT=/path/to"), "\(absent.output)")
    }

    @Test("with an encrypted index is tried with keys of the scratch index, and a store of the user gets none")
    func encrypted() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.my-recipes", "-l", "c", "-d", folder)
        try #require(made.status == 0, "\(made.output)")
        let source = folder + "/MyRecipes.c"
        let text = try String(contentsOfFile: source, encoding: .utf8)
        let changed = text.replacing(
            "status = self.batch->commit(self.host, NULL,",
            with: """
                status = ((const searchlight_host_protection *)self.host->get_interface(
                    self.host, SEARCHLIGHT_HOST_PROTECTION))->set_class(self.host, "secret", SEARCHLIGHT_CLASS_COMPLETE);
                if (status == SEARCHLIGHT_OK)
                    status = self.batch->commit(self.host, "secret",
                """)
        try #require(changed != text)
        try Data(changed.utf8).write(to: URL(filePath: source))
        let run = "make -s -C project run CC=\(CFixture.compiler) SEARCHLIGHT_HEADERS=\(CFixture.includeFolder)"
        let locked = try command.shell(run)
        #expect(locked.status != 0 && locked.output.contains("make run PROTECTED=1"), "\(locked.output)")
        for _ in 1...2 {
            let open = try command.shell(run + " PROTECTED=1")
            #expect(open.status == 0 && open.output.contains("2 items indexed"), "\(open.output)")
            #expect(open.output.contains("Rice pudding"), "\(open.output)")
            #expect(!open.output.contains("locked"), "\(open.output)")
        }
        #expect(FileManager.default.fileExists(atPath: folder + "/build/run/protected/key"))
        // No other store gets keys that are kept beside it.
        #expect(try command("list", "--scratch-keys").status == 64)
        #expect(try command("list", "--scratch-keys", "--in-process").status == 64)
        let donated = try command.shell(
            """
            echo '{"uniqueIdentifier": "a"}' | "$SEARCHLIGHT" donate --bundle org.example.app -
            """)
        #expect(donated.status == 0, "\(donated.output)")
        let own = try command("list", "--scratch-keys", "--in-process", "--store", harness.store)
        #expect(own.status == 64 && own.output.contains("no scratch store"), "\(own.output)")
        #expect(!FileManager.default.fileExists(atPath: harness.store + ".passphrase"))
        #expect(!FileManager.default.fileExists(atPath: harness.store + "/protected/key"))
    }

    @Test("in C++ is built without a warning, validated, follows its files, and is searched")
    func cPlusPlus() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command(
            "extensions", "new", "com.example.my-recipes", "--language", "c++", "--directory", folder)
        #expect(made.status == 0 && made.output.contains("  MyRecipes.cpp  "), "\(made.output)")
        try checkRun()
        let build = try command.shell(
            "make -s -C project clean install CXX=\"\(CFixture.compiler)++ -Werror -pedantic\" SEARCHLIGHT=\"$SEARCHLIGHT\""
        )
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
        let bundle = folder + "/build/com.example.my-recipes.searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        expectNoRemark(report)
        try await checkFollowing(bundle, harness.folder + "/Recipes", ".txt")
        let reindex = try command("reindex", "com.example.my-recipes")
        #expect(reindex.status == 0 && reindex.output.contains("2 items indexed"), "\(reindex.output)")
        #expect(try command("search", "pudding").output.contains("Rice pudding"))
        let other = try command("extensions", "new", "com.example.two", "-l", "cpp", "-d", harness.folder + "/two")
        #expect(other.status == 0, "\(other.output)")
    }

    private static let cargo = "/usr/bin/cargo"

    @Test(
        "in Rust is built offline without a warning, validated, follows its files, and is searched",
        .enabled(if: FileManager.default.isExecutableFile(atPath: cargo)))
    func rust() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.my-recipes", "-l", "rust", "-d", folder)
        #expect(made.status == 0 && made.output.contains("  src/lib.rs  "), "\(made.output)")
        // The compiler is Debian's, not rustup's, which searches the home folder.
        try checkRun("CARGO=\(Self.cargo) RUSTC=/usr/bin/rustc")
        let build = try command.shell(
            """
            RUSTC=/usr/bin/rustc RUSTFLAGS=-Dwarnings make -s -C project clean install CARGO=\(Self.cargo) \
            SEARCHLIGHT="$SEARCHLIGHT"
            """)
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
        let bundle = folder + "/build/com.example.my-recipes.searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        expectNoRemark(report)
        try await checkFollowing(bundle, harness.folder + "/Recipes", ".txt")
        let reindex = try command("reindex", "com.example.my-recipes")
        #expect(reindex.status == 0 && reindex.output.contains("2 items indexed"), "\(reindex.output)")
        #expect(try command("search", "pudding").output.contains("Rice pudding"))
    }

    private static let goTool = "/usr/bin/go"

    @Test(
        "in Go is built offline without a warning, validated, follows its files, and is searched",
        .enabled(if: FileManager.default.isExecutableFile(atPath: goTool)))
    func go() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.my-recipes", "-l", "go", "-d", folder)
        #expect(made.status == 0 && made.output.contains("  main.go  "), "\(made.output)")
        // The compiled standard library is kept between runs.
        try checkRun("GO=\(Self.goTool) GOCACHE=\(BuiltProducts.repository)/.build/go-cache")
        let build = try command.shell(
            """
            GOCACHE=\(BuiltProducts.repository)/.build/go-cache make -s -C project install GO=\(Self.goTool) \
            SEARCHLIGHT="$SEARCHLIGHT" && cd project && \
            GOCACHE=\(BuiltProducts.repository)/.build/go-cache \(Self.goTool) vet -mod=mod -unsafeptr=false . searchlight
            """)
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
        let bundle = folder + "/build/com.example.my-recipes.searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        expectNoRemark(report)
        try await checkFollowing(bundle, harness.folder + "/Recipes", ".txt")
        let reindex = try command("reindex", "com.example.my-recipes")
        #expect(reindex.status == 0 && reindex.output.contains("2 items indexed"), "\(reindex.output)")
        #expect(try command("search", "pudding").output.contains("Rice pudding"))
    }

    private static let pythonConfig = "/usr/bin/python3-config"

    @Test(
        "in Python is built without a warning, validated, follows its files, and is searched",
        .enabled(if: FileManager.default.isExecutableFile(atPath: pythonConfig)))
    func python() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.my-recipes", "-l", "python", "-d", folder)
        #expect(made.status == 0 && made.output.contains("  extension.py  "), "\(made.output)")
        try checkRun()
        let build = try command.shell("make -s -C project clean install CC='cc -Werror' SEARCHLIGHT=\"$SEARCHLIGHT\"")
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
        let bundle = folder + "/build/com.example.my-recipes.searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        expectNoRemark(report)
        try await checkFollowing(bundle, harness.folder + "/Recipes", ".txt")
        let reindex = try command("reindex", "com.example.my-recipes")
        #expect(reindex.status == 0 && reindex.output.contains("2 items indexed"), "\(reindex.output)")
        #expect(try command("search", "pudding").output.contains("Rice pudding"))
    }

    @Test(
        "in Zig is built without a download, validated, follows its files, and is searched",
        .enabled(if: FileManager.default.isExecutableFile(atPath: BuiltProducts.zig)))
    func zig() async throws {
        try writeRecipes()
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.my-recipes", "-l", "zig", "-d", folder)
        #expect(made.status == 0 && made.output.contains("  extension.zig  "), "\(made.output)")
        // The compiled standard library is kept between runs.
        let cache = "ZIG_GLOBAL_CACHE_DIR=\(BuiltProducts.repository)/.build/zig-cache"
        try checkRun("ZIG=\(BuiltProducts.zig) \(cache)")
        let build = try command.shell(
            """
            \(cache) make -s -C project install ZIG=\(BuiltProducts.zig) SEARCHLIGHT="$SEARCHLIGHT" && \
            \(BuiltProducts.zig) fmt --check project/extension.zig \(BuiltProducts.repository)/Sources/SearchlightExtension/zig \
            \(BuiltProducts.repository)/Tests/Fixtures/Kits/everything.zig
            """)
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
        let bundle = folder + "/build/com.example.my-recipes.searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        expectNoRemark(report)
        try await checkFollowing(bundle, harness.folder + "/Recipes", ".txt")
        let reindex = try command("reindex", "com.example.my-recipes")
        #expect(reindex.status == 0 && reindex.output.contains("2 items indexed"), "\(reindex.output)")
        #expect(try command("search", "pudding").output.contains("Rice pudding"))
    }

    @Test("in Swift compiles against the library without a warning, and passes all checks")
    func swift() async throws {
        try writeRecipes()
        let identifier = "com.example.swift-recipes"
        let folder = harness.folder + "/project"
        #expect(try command("extensions", "new", identifier, "--directory", folder).status == 0)
        let package = try String(contentsOfFile: folder + "/Package.swift", encoding: .utf8)
        #expect(!package.contains(".package(") && package.contains("-lCoreSpotlight"), "\(package)")
        let toolchain = URL(filePath: CFixture.compiler).deletingLastPathComponent().path
        let built = try command.shell("PATH=\(toolchain):$PATH make -C project")
        try #require(built.status == 0 && !built.output.contains("warning:"), "\(built.output)")
        #expect(!built.output.contains("Fetching") && !built.output.contains("Cloning"), "\(built.output)")
        try checkRun()
        let bundle = folder + "/build/\(identifier).searchext"
        let report = try await harness.validate(bundle, ValidationCheck.judgeable)
        #expect(report.problems == [])
        try await checkFollowing(bundle, harness.folder + "/Recipes", ".txt")
        let here = try command("extensions", "validate", bundle, "--in-process", "--skip", ValidationCheck.skipped)
        #expect(here.status == 0, "\(here.output)")
    }

    @Test("in Swift links the modules of an installation, or depends on a source that is named")
    func swiftModules() throws {
        let installed = harness.folder + "/swift"
        let copied = try CFixture.run(
            BuiltProducts.repository + "/Scripts/swift-modules", [BuiltProducts.folder, installed])
        try #require(copied.status == 0, "\(copied.output)")
        let project = harness.folder + "/project"
        #expect(
            try command(
                "extensions", "new", "com.example.swift-recipes", "--searchlight", BuiltProducts.repository,
                "--directory", project
            ).status == 0)
        let package = try String(contentsOfFile: project + "/Package.swift", encoding: .utf8)
        #expect(package.contains("path: \"\(BuiltProducts.repository)\""), "\(package)")
        let compiled = try CFixture.run(
            URL(filePath: CFixture.compiler).deletingLastPathComponent().path + "/swiftc",
            [
                "-emit-library", "-parse-as-library", "-swift-version", "5", "-warnings-as-errors", "-module-name",
                "SwiftRecipes", "-I", installed, project + "/Sources/SwiftRecipes/IndexRequestHandler.swift",
                "-L", BuiltProducts.folder, "-lCoreSpotlight", "-o", harness.folder + "/libSwiftRecipes.so",
            ])
        #expect(compiled.status == 0, "\(compiled.output)")
    }

    @Test("with bindings only is an Info.plist and a Makefile that installs it")
    func bindings() throws {
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", "com.example.documents", "-l", "bindings", "-d", folder)
        #expect(made.status == 0, "\(made.output)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == [
                "Info.plist", "Makefile", "README.md",
            ])
        #expect(try command.shell("make -s -C project").status == 0)
        let bundle = folder + "/build/com.example.documents.searchext"
        #expect(try FileManager.default.contentsOfDirectory(atPath: bundle) == ["Info.plist"])
    }

    @Test("with bindings only passes all checks over the user's files, whose items it lists")
    func bindingsJudged() async throws {
        let folder = harness.folder + "/project"
        #expect(try command("extensions", "new", "com.example.notes", "-l", "bindings", "-d", folder).status == 0)
        #expect(try command.shell("make -s -C project").status == 0)
        let documents = harness.folder + "/Documents"
        try FileManager.default.createDirectory(atPath: documents, withIntermediateDirectories: true)
        try Data("# Pudding\n\nSago and milk\n".utf8).write(to: URL(filePath: documents + "/pudding.md"))
        let report = try await harness.validate(
            folder + "/build/com.example.notes.searchext", ValidationCheck.judgeable)
        #expect(report.problems == [])
        #expect(try report.result(.promises).kind == .passed)
        let run = try command.shell("make -s -C project run SEARCHLIGHT=\"$SEARCHLIGHT\"")
        #expect(run.status == 0 && run.output.contains("pudding"), "\(run.output)")
        try await checkFollowing(folder + "/build/com.example.notes.searchext", documents, ".md")
        let judged = try command(
            "extensions", "validate", folder + "/build/com.example.notes.searchext", "--skip", ValidationCheck.skipped)
        #expect(judged.status == 0 && judged.output.contains("passed   manifest"), "\(judged.output)")
    }

    @Test("with bindings only loses no item if its folder is missing or unreadable")
    func bindingsKeepItems() throws {
        let folder = harness.folder + "/project"
        #expect(try command("extensions", "new", "com.example.notes", "-l", "bindings", "-d", folder).status == 0)
        #expect(try command.shell("make -s -C project install SEARCHLIGHT=\"$SEARCHLIGHT\"").status == 0)
        let documents = harness.folder + "/Documents"
        try FileManager.default.createDirectory(atPath: documents, withIntermediateDirectories: true)
        try Data("# Pudding\n".utf8).write(to: URL(filePath: documents + "/pudding.md"))
        let first = try command("reindex", "com.example.notes")
        #expect(first.status == 0 && first.output.contains("1 item indexed"), "\(first.output)")
        try #require(chmod(documents, 0) == 0)
        let unreadable = try command("reindex", "com.example.notes")
        try #require(chmod(documents, 0o755) == 0)
        try FileManager.default.moveItem(atPath: documents, toPath: documents + ".away")
        for (status, output) in [unreadable, try command("reindex", "com.example.notes")] {
            #expect(status == 1 && output.contains("~/Documents is missing or not readable"), "\(output)")
        }
        #expect(try command("search", "pudding").output.contains("@1"))
    }

    @Test("in C finds the header of the source that the program was built from")
    func header() throws {
        #expect(
            try command("extensions", "new", "com.example.one", "-l", "c", "-d", harness.folder + "/project").status
                == 0)
        let build = try command.shell("make -s -C project CC=\(CFixture.compiler)")
        #expect(build.status == 0 && build.output.isEmpty, "\(build.output)")
    }

    @Test("has a README that first creates what the sample reads", arguments: ["c", "python", "swift", "bindings"])
    func readme(_ language: String) throws {
        let folder = harness.folder + "/project"
        #expect(try command("extensions", "new", "com.example.one", "-l", language, "-d", folder).status == 0)
        let text = try String(contentsOfFile: folder + "/README.md", encoding: .utf8)
        let commands = text.split(separator: "\n").filter { $0.hasPrefix("    ") }.map { $0.dropFirst(4) }
        try #require(commands.count > 2)
        #expect(commands[0].hasPrefix("mkdir -p ~/") && commands[1].hasPrefix("make "), "\(text)")
        // The command works, and creates the folder that the manifest declares.
        #expect(try command.shell("HOME=\(harness.folder) sh -c \"\(commands[0])\"").status == 0)
        let declared = try String(contentsOfFile: folder + "/Info.plist", encoding: .utf8)
        let created = commands[0].split(separator: " ")[2]
        #expect(declared.contains("<string>\(created)</string>"), "\(declared)")
    }

    @Test("names the nearest language for a misspelt one, and lists all")
    func misspeltLanguage() throws {
        for (given, meant) in [("pyton", "python"), ("rus", "rust"), ("swfit", "swift"), ("binding", "bindings")] {
            let refused = try command(
                "extensions", "new", "com.example.one", "-l", given, "-d", harness.folder + "/one")
            #expect(refused.status == 64, "\(refused.output)")
            #expect(refused.output.contains("Did you mean \(meant)"), "\(refused.output)")
            #expect(refused.output.contains("- zig"), "\(refused.output)")
        }
        let history = try command("history", "of")
        #expect(history.status == 64 && history.output.contains("Did you mean off"), "\(history.output)")
        let other = try command("extensions", "new", "com.example.one", "-l", "cobol", "-d", harness.folder + "/one")
        #expect(other.status == 64 && !other.output.contains("Did you mean"), "\(other.output)")
    }

    @Test("overwrites nothing, and reports an invalid identifier")
    func refusals() throws {
        let folder = harness.folder + "/project"
        #expect(try command("extensions", "new", "com.example.one", "-l", "c", "-d", folder).status == 0)
        let before = try String(contentsOfFile: folder + "/Info.plist", encoding: .utf8)
        let again = try command("extensions", "new", "com.example.two", "-l", "c", "-d", folder)
        #expect(again.status == 4 && again.output.contains("not empty"), "\(again.output)")
        #expect(try String(contentsOfFile: folder + "/Info.plist", encoding: .utf8) == before)
        for identifier in ["recipes", "com..recipes", "com.example.re cipes", "com/example", ""] {
            let refused = try command("extensions", "new", identifier, "-l", "c", "-d", harness.folder + "/other")
            #expect(refused.status == 64, "\(identifier): \(refused.output)")
        }
        for language in ["swift", "c", "c++", "rust", "go", "python", "zig", "bindings"] {
            let absent = try command(
                "extensions", "new", "com.example.four", "-l", language, "-d", harness.folder + "/other",
                "--searchlight",
                harness.folder + "/absent")
            #expect(absent.status == 2 && absent.output.contains("is not Searchlight's source"), "\(absent.output)")
        }
        #expect(!FileManager.default.fileExists(atPath: harness.folder + "/other"))
        let report = try #require(
            try command.json("extensions", "new", "com.example.three", "-l", "c", "-d", harness.folder + "/three")
                as? [String: Any])
        #expect((report["files"] as? [String])?.contains("Makefile") == true)
    }
}
