// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import ItemRecord
import Promises
import SearchIndex
import Testing

@testable import SearchlightEngine

/// Documents, the extension without code, with the real worker, the system's libraries and a test
/// store.
@Suite("An extension of bindings", .timeLimit(.minutes(10)))
struct BindingTests {
    private static let documents = "com.searchlight.documents"

    /// Returns a harness with Documents and some files in Downloads.
    private func harness() throws -> Harness {
        let harness = try Harness()
        _ = try harness.installDocuments()
        try FileManager.default.createDirectory(
            atPath: harness.folder + "/Downloads/deeper", withIntermediateDirectories: true)
        try write("# Ferry\n\nLeaves from *pier* three.<script>x()</script>\n", to: "deeper/ferry notes.md", harness)
        try write("Grüße aus Oslo", to: "card.txt", harness)
        try write("\u{FF}\u{FE}", to: "picture.png", harness)
        return harness
    }

    private func write(_ text: String, to name: String, _ harness: Harness) throws {
        try Data(text.utf8).write(to: URL(filePath: harness.folder + "/Downloads/" + name))
    }

    @Test("finds files, keeps existing items, removes deleted ones, and is searched")
    func reindex() async throws {
        let harness = try harness()
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty)
            #expect(try await engine.reindexAll(Self.documents) == 2)
            let (hits, _) = try await engine.search("pier", bundle: nil, limit: 10)
            let item = try #require(hits.first?.item)
            #expect(item.record.text("title") == "ferry notes.md")
            #expect(item.record.contentPathForTest == harness.folder + "/Downloads/deeper/ferry notes.md")
            #expect(item.contentType == "net.daringfireball.markdown")
            #expect(item.expires == nil)
            try FileManager.default.removeItem(atPath: harness.folder + "/Downloads/card.txt")
            #expect(try await engine.reindexAll(Self.documents) == 1)
            #expect(try await engine.search("oslo", bundle: nil, limit: 10).total == 0)
            #expect(engine.owedJobs.isEmpty)
        }
    }

    @Test("uses the type system for types of files, with any extension in any case")
    func types() async throws {
        let harness = try harness()
        for name in ["UPPER.MD", "long.MarkDown", "LOUD.TXT", "plain.text"] {
            try write("kerosene \(name)", to: name, harness)
        }
        for name in ["page.html", "md", "md.d", "table.csv"] { try write("kerosene \(name)", to: name, harness) }
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.documents) == 6)
            let items = try await engine.search("kerosene", bundle: nil, limit: 20).hits.map(\.item)
            let found = items.map { "\($0.displayTitle) \($0.contentType ?? "")" }
            let markdown = "net.daringfireball.markdown"
            #expect(
                Set(found) == [
                    "UPPER.MD \(markdown)", "long.MarkDown \(markdown)",
                    "LOUD.TXT public.plain-text", "plain.text public.plain-text",
                ])
        }
    }

    @Test("names the files whose text is not indexed")
    func leftOut() async throws {
        let harness = try harness()
        try write("", to: "large.txt", harness)
        let large = harness.folder + "/Downloads/large.txt"
        #expect(truncate(large, (64 << 20) + 1) == 0)
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.documents) == 3)
            let found = try await engine.account(of: Self.documents).leftOut
            #expect(
                found.map(\.reason) == ["its textContent cannot be determined"] && found.flatMap(\.examples) == [large])
            #expect(try await engine.search("large.txt", bundle: nil, limit: 10).hits.count == 1)
            try write("short again", to: "large.txt", harness)
            _ = try await engine.reindexItems([large], of: Self.documents)
            #expect(try await engine.search("short again", bundle: nil, limit: 10).hits.count == 1)
            #expect(try await engine.account(of: Self.documents).leftOut.isEmpty)
        }
    }

    @Test("reindexes single items: a changed one and a deleted one")
    func reindexItems() async throws {
        let harness = try harness()
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.documents)
            try write("Grüße aus Bergen", to: "card.txt", harness)
            let names = ["card.txt", "deeper/ferry notes.md"].map { harness.folder + "/Downloads/" + $0 }
            try FileManager.default.removeItem(atPath: names[1])
            _ = try await engine.reindexItems(Set(names), of: Self.documents)
            #expect(try await engine.search("bergen", bundle: nil, limit: 10).total == 1)
            #expect(try await engine.search("pier", bundle: nil, limit: 10).total == 0)
        }
    }

    @Test("loses no item if its folder is missing or unreadable, and names the folder", arguments: [true, false])
    func noFolder(isMissing: Bool) async throws {
        let harness = try harness()
        let folder = harness.folder + "/Downloads"
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(Self.documents) == 2)
            if isMissing { try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away") }
            // Even a worker that runs as root cannot see past these permissions.
            if !isMissing { try #require(chmod(folder, 0) == 0) }
            for reindex in [true, false] {
                let error = await #expect(throws: EngineError.self) {
                    if reindex {
                        _ = try await engine.reindexAll(Self.documents)
                    } else {
                        _ = try await engine.reindexItems([folder + "/card.txt"], of: Self.documents)
                    }
                }
                #expect(error?.description.contains("~/Downloads is missing or not readable") == true)
            }
            #expect(try await engine.itemCounts() == [Self.documents: 2])
            #expect(try await engine.search("pier", bundle: nil, limit: 10).total == 1)
            if isMissing { try FileManager.default.moveItem(atPath: folder + ".away", toPath: folder) }
            if !isMissing { try #require(chmod(folder, 0o755) == 0) }
            #expect(try await engine.reindexAll(Self.documents) == 2)
        }
    }

    @Test("converts Markdown to HTML with cmark, in drops and previews")
    func markdown() async throws {
        let harness = try harness()
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.documents)
            let item = try #require(try await engine.search("pier", bundle: nil, limit: 1).hits.first?.item)
            let path = harness.folder + "/drop.html"
            let dropped = try await engine.drag(item, accepted: ["public.html"], to: .file(path: path))
            #expect(dropped.representation == Representation(type: "public.html", form: .data))
            let html = try String(contentsOfFile: path, encoding: .utf8)
            #expect(html.hasPrefix("<h1>Ferry</h1>\n<p>Leaves from <em>pier</em> three."))
            #expect(!html.contains("<script>"))
            let preview = try await engine.preview(of: item, query: "pier")
            #expect(preview.source == .extension, "\(preview.problem ?? "")")
            #expect(preview.title == "ferry notes.md")
            #expect(String(decoding: preview.content, as: UTF8.self).contains("<h1>Ferry</h1>"))
        }
    }

    @Test("converts text to UTF-16 with libunistring, and delivers the file itself")
    func text() async throws {
        let harness = try harness()
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.documents)
            let item = try #require(try await engine.search("oslo", bundle: nil, limit: 1).hits.first?.item)
            let path = harness.folder + "/drop"
            _ = try await engine.drag(item, accepted: ["public.utf16-plain-text"], to: .file(path: path))
            #expect(
                try Data(contentsOf: URL(filePath: path))
                    == Data("Grüße aus Oslo".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }))
            let plain = harness.folder + "/plain.txt"
            _ = try await engine.drag(item, accepted: ["public.plain-text"], to: .file(path: plain))
            #expect(try String(contentsOfFile: plain, encoding: .utf8) == "Grüße aus Oslo")
            let note = try #require(try await engine.search("pier", bundle: nil, limit: 1).hits.first?.item)
            let copy = harness.folder + "/copy.md"
            let dropped = try await engine.drag(
                note, accepted: ["net.daringfireball.markdown"], to: .file(path: copy))
            #expect(dropped.representation.form == .inPlaceFile)
            #expect(try String(contentsOfFile: copy, encoding: .utf8).hasPrefix("# Ferry"))
            // The file is no longer valid UTF-8, so nothing is dropped, and the error states the
            // reason.
            try Data([0x66, 0xFF]).write(to: URL(filePath: harness.folder + "/Downloads/card.txt"))
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(
                    item, accepted: ["public.utf16-plain-text"], to: .file(path: harness.folder + "/none"))
            }
            #expect(
                error?.description.contains("u8_to_u16 returned NULL for units") == true, "\(String(describing: error))"
            )
        }
    }

    @Test("reports the missing file of an item")
    func gone() async throws {
        let harness = try harness()
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(Self.documents)
            let item = try #require(try await engine.search("pier", bundle: nil, limit: 1).hits.first?.item)
            try FileManager.default.removeItem(atPath: harness.folder + "/Downloads/deeper/ferry notes.md")
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.drag(item, accepted: ["public.html"], to: .file(path: harness.folder + "/none"))
            }
            #expect(error?.description.contains("No such file or directory") == true)
        }
    }

    @Test("sets attributes by calls of another library: PDF files are found by their text")
    func attributes() async throws {
        let harness = try Harness()
        let page = try String(contentsOfFile: BuiltProducts.repository + "/docs/BINDINGS.md", encoding: .utf8)
        let example = try #require(page.components(separatedBy: "## Example: the text of PDF files").last)
        let bindings = example.components(separatedBy: "\n## ")[0].components(separatedBy: "\n\n")
            .filter { $0.hasPrefix("    serve ") }.map { $0.replacing("libpoppler-glib.so.8", with: "./poppler.so") }
        let library = try CFixture.library(
            source: BuiltProducts.repository + "/Tests/Fixtures/Bindings/poppler.c",
            options: ["-std=c11", "-D_GNU_SOURCE"])
        try harness.install(
            "com.example.pdf", library: library, libraryName: "poppler.so",
            manifest: [
                "CFBundleExecutable": nil as Any?,
                "Searchlight": ["ReadablePaths": ["~/Documents"], "SymbolBindings": bindings],
            ])
        let folder = harness.folder + "/Documents"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ words: String) throws {
            try Data("%PDF-1.4\n\nstream\n(\(words)) Tj\nendstream\n/Title (Timetable)".utf8)
                .write(to: URL(filePath: folder + "/ferry.pdf"))
        }
        try write("leaves from pier three")
        try await harness.withEngine { engine async throws in
            #expect(engine.registry.refusals.isEmpty, "\(engine.registry.refusals)")
            #expect(try await engine.reindexAll("com.example.pdf") == 1)
            let item = try #require(try await engine.search("pier", bundle: nil, limit: 1).hits.first?.item)
            #expect(item.record.text("title") == "Timetable")
            #expect(item.record.attributes["pageCount"] == .integer(1))
            try write("leaves from dock nine")
            _ = try await engine.reindexItems([folder + "/ferry.pdf"], of: "com.example.pdf")
            #expect(try await engine.search("pier", bundle: nil, limit: 1).total == 0)
            #expect(try await engine.search("dock", bundle: nil, limit: 1).total == 1)
        }
    }

    // MARK: What a worker has

    /// Returns a harness with an extension that has one binding.
    private func bound(_ binding: String) throws -> Harness {
        let harness = try Harness()
        try harness.install(
            "com.example.bound", library: nil,
            manifest: ["CFBundleExecutable": nil as Any?, "Searchlight": ["SymbolBindings": [binding]]])
        return harness
    }

    @Test("cannot create memory files, whose pages no limit counts, and this is reported")
    func filesInMemory() async throws {
        let harness = try bound(
            """
            serve reindexAll library "libc.so.6"
            call memfd_create(name: text = "endless", flags: uint = 0) -> fd: int succeeds fd >= 0
            call ftruncate(file: int = fd, length: i64 = 4294967296) -> r: int succeeds r == 0
            """)
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) { try await engine.reindexAll("com.example.bound") }
            #expect(error?.description.contains("memfd_create") == true, "\(String(describing: error))")
        }
        let told = harness.recordedEvents.compactMap { event in
            if case .refusal(_, let refusal) = event { refusal.description } else { nil }
        }
        #expect(told == ["tried to call memfd_create"])
    }

    @Test("has a function fill a file, which exists only in the worker's own folder")
    func filledByAFunction() async throws {
        let harness = try bound(
            """
            serve file public.plain-text of public.item library "libc.so.6"
            call creat(path: text = request.destination, mode: uint = 384) -> fd: int succeeds fd >= 0
            call write(file: int = fd, what: bytes = "written", count: usize = length(what)) -> n: isize succeeds n == 7
            result request.destination
            """)
        try await harness.withEngine { engine async throws in
            try await donateOne(to: engine)
            let reply = try await engine.host.file(
                item: "one", type: "public.plain-text", inPlace: false, "com.example.bound")
            var bytes = [UInt8](repeating: 0, count: 16)
            #expect(pread(reply.descriptor.number, &bytes, bytes.count, 0) == 7)
            #expect(String(decoding: bytes.prefix(7), as: UTF8.self) == "written")
        }
    }

    @Test("whose worker has used all its callbacks gets a new worker with the next request")
    func callbacksUsedUp() async throws {
        // A function that uses none of its arguments, with 256 callbacks in each call.
        let callbacks = (0..<16).map { "p\($0): progress(c: u64, t: u64) { completed = c, total = t }" }
        let calls = (0..<16).map {
            "call getppid(\(callbacks.joined(separator: ", "))) -> r\($0): int succeeds r\($0) > 0"
        }
        let harness = try bound(
            "serve data public.plain-text of public.item library \"libc.so.6\"\n\(calls.joined(separator: "\n"))\n"
                + "result \"done\"")
        try await harness.withEngine { engine async throws in
            try await donateOne(to: engine)
            func ask() async throws(EngineError) {
                _ = try await engine.data(of: "one", as: "public.plain-text", bundle: "com.example.bound")
            }
            for _ in 0..<64 { try await ask() }
            #expect(harness.startedWorkers == 1)
            let error = await #expect(throws: EngineError.self) { try await ask() }
            guard case .extension(.failed(_, _, .unavailable, let message))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(message.contains("16384 callbacks"))
            try await ask()
            #expect(harness.startedWorkers == 2)
        }
    }

    @Test("whose function does not return is ended after the request was cancelled, and only that is reported")
    func cancelledInACall() async throws {
        let harness = try bound(
            """
            serve data public.plain-text of public.item library "libc.so.6"
            call perror(s: text = "asked")
            call sleep(seconds: uint = 600) -> _: uint
            result "done"
            """)
        let (asked, asking) = AsyncStream.makeStream(of: Void.self)
        harness.listen { if case .output(_, let line) = $0, line.hasPrefix("asked") { asking.yield() } }
        var limits = WorkerConfiguration.Limits.patient
        (limits.cancelGrace, limits.endGrace) = (.milliseconds(100), .milliseconds(100))
        try await harness.withEngine(limits: limits) { engine async throws in
            try await donateOne(to: engine)
            let request = Task {
                try await engine.data(of: "one", as: "public.plain-text", bundle: "com.example.bound")
            }
            for await _ in asked { break }
            request.cancel()
            await #expect(throws: EngineError.extension(.cancelled)) { _ = try await request.value }
            await engine.wait(forWorkers: 0)
            #expect(engine.health(of: "com.example.bound").failures.isEmpty)
        }
    }

    /// An item donated by an app of the extension's bundle.
    private func donateOne(to engine: SearchlightEngine) async throws {
        var batch = IndexBatch(scope: IndexScope(bundle: "com.example.bound"))
        batch.index([
            try EncodedItem(
                ItemRecord(uniqueIdentifier: "one", attributes: ["contentType": .string("public.plain-text")]))
        ])
        try await engine.commit(batch)
    }

    // MARK: Manifests

    private func problem(_ bindings: Any, _ more: [String: Any?] = [:]) throws -> BundleProblem? {
        let harness = try Harness()
        var keys: [String: Any?] = ["CFBundleExecutable": nil as Any?, "Searchlight": ["SymbolBindings": bindings]]
        for (key, value) in more { keys[key] = value }
        try harness.install("com.example.bound", library: nil, manifest: keys)
        let registry = ExtensionRegistry(searchPath: [harness.extensions])
        #expect(registry.extensions.isEmpty != registry.refusals.isEmpty)
        return registry.refusals.first?.problem
    }

    private static let good = "serve throttle library \"libc.so.6\" call abs(n: int = 1) -> _: int"

    @Test("needs no library of its own, and must not have one")
    func noLibrary() throws {
        #expect(try problem([Self.good]) == nil)
        guard
            case .invalidValue("Searchlight.SymbolBindings", _, let expected)? = try problem(
                [Self.good], ["CFBundleExecutable": "library.so"])
        else {
            Issue.record("it was not refused")
            return
        }
        #expect(expected.contains("CFBundleExecutable"))
    }

    @Test("is rejected for a mistake in a binding, with its number, its position and the remedy")
    func wrongBinding() throws {
        let found = try problem([Self.good, "serve throttle\nlibrary \"libc.so.6\"\ncall abs(n: int)"])
        #expect(
            found
                == .invalidBinding(
                    number: 2, line: 3, column: 16, problem: "Found “)”",
                    advice: "Expected “=” and a value for n"))
        #expect(
            found?.description
                == "Binding 2 of Searchlight.SymbolBindings in its Info.plist, line 3, column 16: Found “)”. Expected “=” and a value for n."
        )
    }

    @Test("is rejected if its bindings are no texts, empty or too many")
    func noTexts() throws {
        for value in ["text", [1], [String](), Array(repeating: Self.good, count: 65)] as [Any] {
            guard case .invalidValue("Searchlight.SymbolBindings", _, _)? = try problem(value) else {
                Issue.record("\(value) was not refused")
                return
            }
        }
    }

    @Test("is rejected if a library of the bundle is not a library")
    func ownLibrary() throws {
        let found = try problem(["serve throttle library \"./mine.so\" call abs(n: int = 1) -> _: int"])
        guard case .libraryUnreadable("mine.so", _)? = found else {
            Issue.record("\(String(describing: found))")
            return
        }
    }

    @Test("fails to load if a library or a function is missing, with its name")
    func missing() async throws {
        for (binding, word) in [
            ("serve reindexAll library \"libnowhere.so.7\" call f()", "libnowhere.so.7"),
            ("serve reindexAll library \"libc.so.6\" call no_such_function()", "no_such_function"),
        ] {
            let harness = try Harness()
            try harness.install(
                "com.example.bound", library: nil,
                manifest: ["CFBundleExecutable": nil as Any?, "Searchlight": ["SymbolBindings": [binding]]])
            try await harness.withEngine { engine async throws in
                let error = await #expect(throws: EngineError.self) { try await engine.reindexAll("com.example.bound") }
                guard case .extension(.cannotLoad(_, _, let message))? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(message.contains(word))
            }
        }
    }
}

extension ItemRecord {
    fileprivate var contentPathForTest: String? {
        text("contentURL").flatMap { URL(string: $0)?.path(percentEncoded: false) }
    }
}
