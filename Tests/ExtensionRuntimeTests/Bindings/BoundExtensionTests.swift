// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import ServiceMessages
import SystemSupport
import Testing

@testable import ExtensionRuntime

@Suite("Extensions of bindings")
struct BoundExtensionTests {
    let host: BindingHost

    init() throws { host = try BindingHost() }

    private func loadFailure(_ texts: String...) -> LoadError? {
        let request = LoadRequest(
            bundlePath: host.folder.path, libraryPath: "", bundleIdentifier: "com.example.bound", bindings: texts)
        do throws(LoadError) {
            _ = try BoundExtension(request, session: HostSession(link: host))
            return nil
        } catch { return error }
    }

    @Test("A missing library is named, with the linker's message")
    func missingLibrary() {
        let failure = loadFailure("serve throttle library \"libnone-a.so.1\", \"./none.so\" call f()")
        #expect(failure?.failure == .cannotOpen)
        #expect(failure?.message.contains("libnone-a.so.1 or ./none.so") == true)
        #expect(failure?.message.contains("No such file") == true)
    }

    @Test("A function that the library lacks is named, including one that frees or explains")
    func missingSymbol() {
        for call in [
            "call none()", "call abs(n: int = 1) -> s: owned(none) text call puts(t: text = s) -> _: int",
            "call abs(n: int = 1) -> r: int succeeds r == 1 otherwise none() -> t: borrowed text",
        ] {
            let failure = loadFailure("serve throttle library \"libc.so.6\" \(call)")
            #expect(failure?.failure == .missingSymbol)
            #expect(failure?.message.hasPrefix("A binding calls none, which libc.so.6 does not have.") == true)
        }
    }

    @Test("The worker reads a binding as strictly as the host")
    func invalid() {
        let failure = loadFailure("serve throttle library \"libc.so.6\" call abs(n: int)")
        #expect(failure?.failure == .invalidBinding)
        #expect(failure?.message.hasPrefix("Binding 1, line 1, column 51: Found “)”. Expected “=”") == true)
    }

    @Test("The next library is used if the first is missing, and functions of its dependencies are found")
    func nextLibrary() {
        #expect(
            loadFailure("serve throttle library \"libnone.so\", \"libm.so.6\" call puts(s: text = \"\") -> _: int")
                == nil)
    }

    @Test("A binding that cannot work fails its requests, and the others work")
    func partly() async throws {
        let broken =
            "serve file public.html of public.plain-text library \"libnone.so\" call f() -> s: borrowed text result s"
        let loaded = try host.load(broken, BindingHost.binding("constant() -> out: borrowed text"))
        try host.hold(ItemRecord(uniqueIdentifier: "item"))
        #expect(host.logged.count == 1)
        #expect(try await loaded.data() == "a constant")
        let outcome = await loaded.ask { $0.provideFile($1, item: "item", type: "public.html", inPlace: false) }
        guard case .failed(.unavailable, let message) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(message.contains("libnone.so"))
    }

    @Test("Bindings of files serve their changes, and reach only files below their folder, through no link")
    func boundFiles() async throws {
        let folder = host.folder.path + "/files"
        for name in ["", "/deeper", "/.hidden"] {
            try FileManager.default.createDirectory(atPath: folder + name, withIntermediateDirectories: true)
        }
        func path(_ name: String) -> String { folder + "/" + name }
        let names = ["one.md", "deeper/two.md", "deeper/.three.md", ".hidden/four.md", "five.txt", "../outside.md"]
        for name in names { try Data(name.utf8).write(to: URL(filePath: path(name))) }
        try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("deeper"))
        try FileManager.default.createSymbolicLink(atPath: path("link.md"), withDestinationPath: path("one.md"))
        let loaded = try host.load(
            """
            serve files "\(folder)/"
            library "libc.so.6"
            call nftw(dirpath: text = request.path,
                fn: donate(file: text, _: pointer, flag: int, _: pointer) -> int = 0
                    when flag == 0 and suffix(file) == "md" and hidden(file) == 0
                    { identifier = file, textContent = text(contents(file)) },
                nopenfd: int = 16, flags: int = 1) -> status: int succeeds status == 0
            """)
        #expect(loaded.bound.interfaces == ["searchlight.reindex/1", "searchlight.changes/1"])
        let told = names + ["link/two.md", "link.md", "deeper", "gone.md", "./one.md", "deeper//two.md", "one.md/"]
        func update(_ more: Int) async {
            let changes = (told + (0..<more).map { "none-\($0).md" }).map { FileChange.changed(path: path($0)) }
            let outcome = await loaded.ask { $0.updateFiles($1, changes) }
            guard case .acknowledged = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
        }
        // With separate calls, and with one walk through all files.
        for more in [0, BoundReindex.maximumFileCalls] {
            await update(more)
            #expect(host.items.keys.sorted() == [path("deeper/two.md"), path("one.md")])
        }
        try FileManager.default.removeItem(atPath: path("one.md"))
        await update(0)
        #expect(host.items.keys.sorted() == [path("deeper/two.md")])
        // An absent folder does not prove that its files were deleted.
        try FileManager.default.moveItem(atPath: folder, toPath: folder + ".away")
        for scope in 0..<3 {
            let outcome = await loaded.ask { bound, request in
                switch scope {
                case 0: bound.updateFiles(request, [.removed(path: path("deeper/two.md"))])
                case 1: bound.reindexItems(request, [path("deeper/two.md")])
                default: bound.reindexAll(request)
                }
            }
            guard case .failed(.unavailable, let message) = outcome else {
                Issue.record("\(String(describing: outcome))")
                return
            }
            #expect(message.contains("is missing or not readable"))
        }
        #expect(host.items.count == 1)
    }

    @Test("The interfaces match the bindings")
    func interfaces() throws {
        let loaded = try host.load(
            BindingHost.binding("constant() -> out: borrowed text"), "serve reindexAll LIBRARY call yes() -> _: bool",
            "serve preview public.html of public.text LIBRARY call constant() -> s: borrowed text result s")
        #expect(
            loaded.bound.interfaces == ["searchlight.promises/1", "searchlight.reindex/1", "searchlight.preview/1"])
    }

    @Test("Only items of the bound types are served, by the first matching binding")
    func types() async throws {
        let loaded = try host.load(
            BindingHost.binding("echo(t: text = \"picture\") -> out: owned(free) text").replacing(
                "of public.plain-text", with: "of public.image"),
            BindingHost.binding("echo(t: text = \"text\") -> out: owned(free) text").replacing(
                "of public.plain-text", with: "of com.example.other, public.TEXT"),
            BindingHost.binding("echo(t: text = \"last\") -> out: owned(free) text"))
        try host.hold(ItemRecord(uniqueIdentifier: "item"), types: ["public.plain-text", "public.text"])
        #expect(try await loaded.data() == "text")
        try host.hold(ItemRecord(uniqueIdentifier: "item"), types: ["public.movie"])
        #expect(await loaded.failure() == BindingFailure(.unsupported, "not served"))
        try host.hold(nil)
        #expect(await loaded.failure() == BindingFailure(.notFound, "there is no item item"))
        let outcome = await loaded.ask { $0.provideData($1, item: "item", type: "public.png") }
        #expect({ if case .failed(.unsupported, "not served") = outcome { true } else { false } }())
    }

    private func file(_ call: String, result: String) async throws -> RequestOutcome? {
        let loaded = try host.load("serve file public.html of public.plain-text LIBRARY call \(call) result \(result)")
        try host.hold(ItemRecord(uniqueIdentifier: "item"))
        return await loaded.ask { $0.provideFile($1, item: "item", type: "public.html", inPlace: true) }
    }

    private func contents(_ outcome: RequestOutcome?) throws -> String {
        guard case .file(let reply) = outcome else { throw BindingFailure(.failed, "\(String(describing: outcome))") }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = read(reply.descriptor.number, &bytes, bytes.count)
        return String(decoding: bytes[..<max(0, count)], as: UTF8.self)
    }

    @Test("A file is created from a function's result, written by it, or named by it")
    func files() async throws {
        #expect(try contents(await file("constant() -> s: borrowed text", result: "s")) == "a constant")
        let write = "write_file(path: text = request.destination, text: text = \"written\") -> s: int succeeds s == 0"
        #expect(try contents(await file(write, result: "request.destination")) == "written")
        let path = host.folder.path + "/it"
        try Data("found".utf8).write(to: URL(filePath: path))
        let named = "echo(t: text = \"\(path)\") -> s: owned(free) text"
        #expect(try contents(await file(named, result: "file(s)")) == "found")
        let relative = try await file("echo(t: text = \"it\") -> s: owned(free) text", result: "file(s)")
        #expect({ if case .failed(.invalidArgument, _) = relative { true } else { false } }())
        let unwritten = try await file(
            "constant() -> s: borrowed text succeeds s != \"\"", result: "request.destination")
        #expect({ if case .failed(.failed, _) = unwritten { true } else { false } }())
    }

    @Test("A preview has the type, the title and the search words")
    func preview() async throws {
        let loaded = try host.load(
            """
            serve preview public.plain-text of public.plain-text LIBRARY
            call echo(q: text = request.query) -> s: owned(free) text
            result s title item.attribute("title", "untitled")
            """)
        try host.hold(ItemRecord(uniqueIdentifier: "item", attributes: ["title": .string("Named")]))
        let outcome = await loaded.ask { $0.preview($1, item: "item", query: "sought", contentPath: nil) }
        guard case .preview(let preview) = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(preview.contentType == "public.plain-text")
        #expect(preview.title == "Named")
        #expect(preview.content == Array("sought".utf8))
    }

    private func preview(_ call: String, result: String) async throws -> RequestOutcome? {
        let loaded = try host.load(
            "serve preview public.png of public.plain-text LIBRARY call \(call) result \(result)")
        try host.hold(ItemRecord(uniqueIdentifier: "item"))
        return await loaded.ask { $0.preview($1, item: "item", query: nil, contentPath: nil) }
    }

    private func content(_ outcome: RequestOutcome?) -> String? {
        guard case .preview(let preview) = outcome else { return "\(String(describing: outcome))" }
        return String(decoding: preview.content, as: UTF8.self)
    }

    @Test("A preview may be rendered into the file of the request, or into a folder of its own")
    func renderedFile() async throws {
        func write(_ path: String, _ more: String = "") -> String {
            "write_file(path: text = \(path), text: text = \"drawn\") -> s: int succeeds s == 0\(more)"
        }
        #expect(content(try await preview(write("request.destination"), result: "request.destination")) == "drawn")
        let own = #"path("$TMPDIR/page.png")"#
        #expect(content(try await preview(write(own), result: "file(\(own))")) == "drawn")
        #expect(content(try await preview(write(own), result: "contents(\(own))")) == "drawn")
        // Returns the path itself, so that the test can check it.
        let path = try #require(content(try await preview(write(own), result: own)))
        #expect(path.hasSuffix("/page.png"))
        #expect(!FileManager.default.fileExists(atPath: path))
        #expect(!FileManager.default.fileExists(atPath: URL(filePath: path).deletingLastPathComponent().path))
        let again = try #require(content(try await preview(write(own), result: own)))
        #expect(again != path, "requests at the same time do not share a folder")
        let outside = try await preview(write(#"path("$TMPDIR/../page.png")"#), result: "request.destination")
        #expect({ if case .failed(.invalidArgument, _) = outside { true } else { false } }())
        let unwritten = try await preview("yes() -> b: bool succeeds b == 1", result: "request.destination")
        #expect({ if case .failed(.failed, _) = unwritten { true } else { false } }())
    }

    @Test("A file that a function wrote into the request's folder is the answer, and readable after its removal")
    func fileInTemporaryFolder() async throws {
        let own = #"path("$TMPDIR/it.html")"#
        let outcome = try await file(
            "write_file(path: text = \(own), text: text = \"written\") -> s: int succeeds s == 0",
            result: "file(\(own))")
        #expect(try contents(outcome) == "written")
    }

    @Test("Paths and file URLs are distinguished")
    func urls() {
        #expect(FileURL.path(of: "file:///a%20b/%C3%BC") == "/a b/ü")
        #expect(FileURL.path(of: "FILE://localhost/a#part") == "/a")
        for url in ["http://a/b", "file://elsewhere/a", "file:///a%00b", "file:///%zz", "file:///%ff", "", "file://"] {
            #expect(FileURL.path(of: url) == nil, "\(url)")
        }
        #expect(FileURL.text("/a b/ü#?") == "file:///a%20b/%C3%BC%23%3F")
        #expect(FileURL.expanded("relative") == nil)
        #expect(FileURL.expanded("~elsewhere/x") == nil)
        #expect(FileURL.expanded("/absolute") == "/absolute")
    }
}
