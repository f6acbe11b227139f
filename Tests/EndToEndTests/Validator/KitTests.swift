// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import SearchIndex
import ServiceMessages
import TestSupport
import Testing

@testable import SearchlightEngine

/// The Go, Python, Rust and Zig kits beyond their samples: `Tests/Fixtures/Kits` has one extension
/// in these languages.
@Suite("A kit", .timeLimit(.minutes(10)))
struct KitTests {
    enum Kit: String, CaseIterable {
        case go, python, rust, zig

        /// The program that the kit needs in order to be built.
        var toolchain: String {
            switch self {
            case .go: "/usr/bin/go"
            case .python: "/usr/bin/python3-config"
            case .rust: "/usr/bin/cargo"
            case .zig: BuiltProducts.zig
            }
        }
        var source: (fixture: String, place: String) {
            switch self {
            case .go: ("everything.go", "main.go")
            case .python: ("everything.py", "extension.py")
            case .rust: ("everything.rs", "src/lib.rs")
            case .zig: ("everything.zig", "extension.zig")
            }
        }

        static var available: [Kit] {
            allCases.filter { FileManager.default.isExecutableFile(atPath: $0.toolchain) }
        }
    }

    private static let bundle = "com.example.everything"

    /// Builds the fixture with a kit, and installs it.
    private func install(_ kit: Kit, in harness: Harness, source: String? = nil) throws {
        let command = Command(harness: harness)
        let folder = harness.folder + "/project"
        let made = try command("extensions", "new", Self.bundle, "--language", kit.rawValue, "--directory", folder)
        try #require(made.status == 0, "\(made.output)")
        let fixture = BuiltProducts.repository + "/Tests/Fixtures/Kits/" + kit.source.fixture
        let text = try source ?? String(contentsOfFile: fixture, encoding: .utf8)
        try Data(text.utf8).write(to: URL(filePath: folder + "/" + kit.source.place))
        let cache = BuiltProducts.repository + "/.build"
        let built = try command.shell(
            """
            GOCACHE=\(cache)/go-cache ZIG_GLOBAL_CACHE_DIR=\(cache)/zig-cache RUSTC=/usr/bin/rustc RUSTFLAGS=-Dwarnings \
            make -s -C project ZIG=\(BuiltProducts.zig) CARGO=/usr/bin/cargo
            """)
        try #require(built.status == 0 && built.output.isEmpty, "\(built.output)")
        try FileManager.default.copyItem(
            atPath: folder + "/build/\(Self.bundle).searchext", toPath: harness.extensions + "/\(Self.bundle).searchext"
        )
    }

    private func data(_ name: String, _ engine: SearchlightEngine) async throws -> String {
        let payload = try await engine.data(of: name, as: "public.text", bundle: Self.bundle)
        guard case .inline(let bytes) = payload else { return "not inline" }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func failure(_ name: String, _ engine: SearchlightEngine) async -> String {
        do { return try await data(name, engine) } catch { return "\(error)" }
    }

    @Test("donates every kind of value, in pages, and serves every interface", arguments: Kit.available)
    func interfaces(_ kit: Kit) async throws {
        let harness = try Harness()
        try install(kit, in: harness)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.bundle) == 2)
            let first = try await engine.item(named: "first").record
            #expect(first.attributes["title"] == .string("Title of first"))
            #expect(first.attributes["keywords"] == .array([.string("one"), .string("two")]))
            #expect(first.attributes["pageCount"] == .integer(7))
            #expect(first.attributes["rating"] == .double(4.5))
            #expect(first.attributes["com_example_open"] == .boolean(true))
            #expect(first.attributes["com_example_bytes"] == .data([0, 1]))
            #expect(first.traits == ["com_example_flavour": [.searchable, .searchableByDefault]])
            #expect(first.domainIdentifier == "things" && first.expiration == .at(4e9 - 978_307_200))
            #expect(first.attributes["contentCreationDate"] == .date(1000.5 - 978_307_200))
            #expect(try await engine.search("cardamom", bundle: nil, limit: 10).total == 2)

            try await engine.onHost { (host) throws(ExtensionError) in
                try await host.updateFiles([.moved(from: "/a", to: "/b"), .removed(path: "/c")], Self.bundle)
                try await host.reindexEncrypted(
                    EncryptedItems(index: "inbox", protection: .complete, identifiers: ["e"]), Self.bundle)
            }
            // The kits for Go and Python have no function for encrypted items.
            let encrypted = kit == .rust || kit == .zig ? "inbox 2 e" : "e"
            try await engine.reindexItems(["third"], of: Self.bundle)
            #expect(try await data("state", engine) == "one 8")
            #expect(try await data("where", engine) == "\(Self.bundle) \(Self.bundle).searchext")
            #expect(try await data("listing", engine) == "2 /a,2 /b,3 /c,\(encrypted),renamed,third")

            let item = try await engine.item(named: "third")
            let file = try await engine.onHost { (host) throws(ExtensionError) in
                try await host.file(item: "third", type: "public.text", inPlace: true, Self.bundle)
            }
            var text = [UInt8](repeating: 0, count: 100)
            let count = pread(file.descriptor.number, &text, text.count, 0)
            #expect(String(decoding: text.prefix(max(0, count)), as: UTF8.self) == "third in place: True")
            let preview = try await engine.preview(of: item, query: "words")
            #expect(preview.title == "Shown" && preview.problem == nil)
            #expect(String(decoding: preview.content, as: UTF8.self).contains("third for <mark>words</mark>"))
            #expect(await engine.throttle(Self.bundle, ThrottleNotice(reason: .battery)))
            #expect(await engine.throttle(Self.bundle, nil))
        }
        #expect(harness.messages.suffix(2) == ["throttled to 0", "not throttled"])
    }

    @Test("for C++ requests items of encrypted indexes with their index and its class")
    func encryptedItemsInCPlusPlus() async throws {
        let harness = try Harness()
        let library = try CFixture.library(
            source: BuiltProducts.repository + "/Tests/Fixtures/Extensions/encrypted.cpp",
            options: [
                "--driver-mode=g++", "-std=c++20", "-D_GNU_SOURCE", "-I\(CFixture.includeFolder)",
                "-I\(BuiltProducts.repository)/Sources/SearchlightExtension/cplusplus",
            ])
        try harness.install(Self.bundle, library: library)
        try await harness.withEngine { engine async throws in
            _ = try await engine.unlock(passphrase: Array("correct horse".utf8), creates: true)
            try await engine.onHost { (host) throws(ExtensionError) in
                try await host.reindexEncrypted(
                    EncryptedItems(index: "inbox", protection: .complete, identifiers: ["a", "b"]), Self.bundle)
            }
            let page = try await engine.items(
                matching: .and([]), bundle: Self.bundle, limit: 10, after: nil, place: .current)
            #expect(page.items.map(\.record.uniqueIdentifier).sorted() == ["a", "b"])
            #expect(page.items.allSatisfy { $0.record.attributes["title"] == .string("C++ inbox 2") })
            #expect(engine.protectionStatus.indexes.map(\.scope.index) == ["inbox"])
        }
    }

    @Test(
        "gives streams and open files as data, and a broken stream is an error of the receiver",
        arguments: Kit.available)
    func content(_ kit: Kit) async throws {
        let harness = try Harness()
        try install(kit, in: harness)
        try await harness.withEngine { engine async throws in
            func bytes(_ name: String) async throws -> [UInt8] {
                try await engine.data(of: name, as: "public.text", bundle: Self.bundle).bytes(upTo: 1 << 20)
            }
            let stream = try await bytes("stream")
            #expect(stream.count == 300_000)
            #expect(stream.indices.allSatisfy { stream[$0] == UInt8(truncatingIfNeeded: $0 / 1000) })
            await #expect(throws: (any Error).self) { try await bytes("broken_stream") }
            #expect(try await bytes("open_file") == Array("from a file without a name".utf8))
        }
        #expect(!harness.recordedEvents.contains { if case .misuse = $0 { true } else { false } })
    }

    @Test("encrypts a named index, and donates to it while the store is unlocked", arguments: Kit.available)
    func encryption(_ kit: Kit) async throws {
        let harness = try Harness()
        try install(kit, in: harness)
        try await harness.withEngine { engine async throws in
            try await engine.unlock(passphrase: Array("correct horse".utf8), creates: true)
            // The status of the donation, the items of the index, and the statuses for an empty
            // name and for one of 4,097 bytes.
            #expect(try await data("encrypted", engine) == "0 [pulse] 5 7")
            #expect(try await engine.search("pulse", bundle: nil, limit: 10).total == 1)
            await engine.lock()
            #expect(try await engine.search("pulse", bundle: nil, limit: 10).total == 0)
            #expect(try await data("encrypted", engine) == "6 [] 5 7")
        }
        let files = FileManager.default.enumerator(atPath: harness.store)?.compactMap { $0 as? String } ?? []
        #expect(files.contains { $0.hasPrefix("protected/") })
        for name in files {
            let content = try? Data(contentsOf: URL(filePath: harness.store + "/" + name))
            #expect(content?.range(of: Data("Title of pulse".utf8)) == nil, "\(name) has the title")
        }
    }

    @Test("shows a printed line before the answer", arguments: Kit.available)
    func printing(_ kit: Kit) async throws {
        let harness = try Harness()
        try install(kit, in: harness)
        try await harness.withEngine { engine async throws in
            #expect(try await data("printing", engine) == "printed")
            #expect(harness.messages == ["printed by the kit"])
        }
    }

    @Test("answers a request that fails with its reason, and serves the next one", arguments: Kit.available)
    func failures(_ kit: Kit) async throws {
        let harness = try Harness()
        try install(kit, in: harness)
        try await harness.withEngine { engine async throws in
            for (name, words) in [
                ("refused", ["not today"]), ("missing", ["there-is-none"]), ("crash", ["a fault of the author"]),
                ("bad_text", ["NUL"]),
            ] {
                let failure = await failure(name, engine)
                #expect(words.allSatisfy(failure.contains), "\(failure)")
            }
            #expect(try await data("where", engine).hasPrefix(Self.bundle))
        }
        #expect(harness.messages.contains { $0.contains("a fault of the author") }, "its lines are shown")
        #expect(harness.recordedEvents.count { if case .started = $0 { true } else { false } } == 1)
    }

    @Test("leaves the worker without further rights", arguments: Kit.available)
    func rights(_ kit: Kit) async throws {
        let harness = try Harness()
        try install(kit, in: harness)
        try await harness.withEngine { engine async throws in
            #expect(try await data("rights", engine) == "program,connection,foreign_file,executable_memory")
        }
    }

    @Test(
        "in Python reports a module that cannot be started, with the line",
        .enabled(if: Kit.available.contains(.python)))
    func brokenModule() async throws {
        for (source, reason) in [
            ("import searchlight\n", "declares no class"), ("import nothing_here\n", "No module named 'nothing_here'"),
            ("raise SystemExit(3)\n", "SystemExit: 3"),
            ("import searchlight\n@searchlight.extension\nclass A:\n  def __init__(self): 1 / 0\n", "division"),
        ] {
            let harness = try Harness()
            try install(.python, in: harness, source: source)
            try await harness.withEngine { engine async throws in
                let failure = await failure("where", engine)
                #expect(failure.contains(reason), "\(failure)")
            }
        }
    }
}
