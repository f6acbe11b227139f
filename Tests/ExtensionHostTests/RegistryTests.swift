// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import ExtensionHost

@Suite("The registry of extensions")
struct RegistryTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func search(_ names: String..., cache: RegistryCache? = nil) -> ExtensionRegistry {
        ExtensionRegistry(searchPath: names.map { folder.path($0) }, cache: cache)
    }

    private func problem() throws -> BundleProblem {
        let registry = search("a")
        #expect(registry.extensions.isEmpty)
        #expect(registry.refusals.count == 1)
        return try #require(registry.refusals.first).problem
    }

    @Test("finds nothing in missing folders, without an error")
    func emptySearchPath() {
        let registry = ExtensionRegistry(searchPath: ["/nowhere/extensions", "/nowhere/extensions"])
        #expect(registry.extensions.isEmpty && registry.refusals.isEmpty)
        #expect(registry.searchPath == ["/nowhere/extensions"])
    }

    // MARK: Precedence

    @Test("uses the first bundle in the search path, and the others name it")
    func precedence() throws {
        let first = try PlainBundle("com.example.x", in: folder.path("a"), version: "1")
        try PlainBundle("com.example.x", in: folder.path("b"), version: "2")
        let registry = search("a", "b")
        #expect(registry.extensions.map(\.manifest.version) == ["1"])
        #expect(registry.refusals.map(\.problem) == [.shadowed(identifier: "com.example.x", by: first.path)])
        #expect(search("b", "a").extensions.map(\.manifest.version) == ["2"])
    }

    @Test("prefers a valid bundle to a broken one before it")
    func brokenFirst() throws {
        try PlainBundle("com.example.x", in: folder.path("a"), library: [1, 2, 3])
        try PlainBundle("com.example.x", in: folder.path("b"), version: "2")
        let registry = search("a", "b")
        #expect(registry.extensions.map(\.manifest.version) == ["2"])
        #expect(registry.refusals.map(\.likelyIdentifier) == ["com.example.x"])
        #expect(try registry.bundle("com.example.x").manifest.version == "2")
    }

    @Test("accepts a directory whose name differs from the identifier, with a warning")
    func nameMismatch() throws {
        try PlainBundle("com.example.x", in: folder.path("a"), name: "other")
        let bundle = try #require(search("a").extensions.first)
        #expect(bundle.warnings == [.nameMismatch(directory: "other.searchext", identifier: "com.example.x")])
    }

    @Test("has one warning for any number of folders with passwords beside found bundles")
    func sessions() throws {
        func warnings(_ paths: [String]) throws -> [String] {
            try PlainBundle("com.example.x", in: folder.path("a"), manifest: ["Searchlight": ["ReadablePaths": paths]])
            return try #require(search("a").extensions.first).warnings.map(\.description)
        }
        #expect(try warnings(["~/Notes"]) == [])
        let browsers = "$HOME/.mozilla/firefox, $HOME/.config/chromium"
        let warning = try #require(try warnings(["~/Notes", "~/.mozilla/firefox", "~/.config/chromium"]).first)
        #expect(
            warning.hasPrefix("It can read \(browsers), which also contain passwords"))
        let many = try warnings((1...20).map { "~/.mozilla/firefox/profile\($0)" })
        #expect(many.count == 1 && many.first?.contains("/profile8 and 12 more, which") == true, "\(many)")
    }

    @Test("An unknown key is a warning with a suggestion; one of Apple's is none")
    func unknownKeys() throws {
        let manifest = { (key: String) in
            """
            <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.x</string>
            <key>CFBundleExecutable</key><string>library.so</string><key>DTXcode</key><string>1500</string>
            <key>NSExtension</key><dict>
            <key>NSExtensionPointIdentifier</key><string>com.apple.spotlight.index</string></dict>
            <key>Searchlight</key><dict><key>\(key)</key><array/></dict></dict></plist>
            """
        }
        func warnings(_ key: String) throws -> [String] {
            let path = try PlainBundle("com.example.x", in: folder.path("a")).path
            try Data(manifest(key).utf8).write(to: URL(filePath: path + "/Info.plist"))
            return try #require(search("a").extensions.first).warnings.map(\.description)
        }
        #expect(try warnings("ReadablePaths") == [])
        #expect(
            try warnings("ReadablePath") == [
                "Its Info.plist has the unknown key Searchlight.ReadablePath, which has no effect. Did you mean Searchlight.ReadablePaths?"
            ])
        #expect(
            try warnings("Colour") == ["Its Info.plist has the unknown key Searchlight.Colour, which has no effect."])
        let long = try #require(try warnings(String(repeating: "x", count: 5000)).first)
        #expect(long.utf8.count < 300)
    }

    @Test("Bindings under a misspelt key are rejected for the key, not for a missing library")
    func misspeltBindings() throws {
        let path = try PlainBundle("com.example.x", in: folder.path("a")).path
        let manifest = """
            <plist version="1.0"><dict><key>CFBundleIdentifier</key><string>com.example.x</string><key>NSExtension</key>
            <dict><key>NSExtensionPointIdentifier</key><string>com.apple.spotlight.index</string></dict>
            <key>Searchlight</key><dict><key>SymbolBinding</key><array/></dict></dict></plist>
            """
        try Data(manifest.utf8).write(to: URL(filePath: path + "/Info.plist"))
        let refusal = try #require(search("a").refusals.first)
        #expect(refusal.problem.description.contains("Did you mean Searchlight.SymbolBindings?"))
        try Data(manifest.replacing("SymbolBinding", with: "MemoryLimit").utf8).write(
            to: URL(filePath: path + "/Info.plist"))
        #expect(search("a").refusals.map(\.problem) == [.missingKey("CFBundleExecutable")])
    }

    @Test("A misspelt name is answered with a suggestion")
    func nearName() throws {
        try PlainBundle("com.example.journal", in: folder.path("a"))
        let registry = search("a")
        for name in ["com.example.jurnal", "org.example.journal", "com.example.Journal"] {
            let error = #expect(throws: ExtensionError.self) { try registry.bundle(name) }
            #expect(error?.description.contains("Did you mean com.example.journal?") == true)
        }
        let error = #expect(throws: ExtensionError.self) { try registry.bundle("something.else.altogether") }
        #expect(error?.description.contains("Did you mean") == false)
    }

    // MARK: Links and who may write

    @Test(
        "A library or a manifest that is a symbolic link is rejected, with any target",
        arguments: ["library.so", "Info.plist"])
    func linkedFile(name: String) throws {
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        try FileManager.default.moveItem(atPath: bundle.path + "/" + name, toPath: bundle.path + "/real")
        try FileManager.default.createSymbolicLink(atPath: bundle.path + "/" + name, withDestinationPath: "real")
        #expect(try problem() == .notAFile(name: name, found: "a symbolic link"))
    }

    @Test(
        "A named pipe instead of a file is rejected without waiting", arguments: ["library.so", "Info.plist"])
    func pipe(name: String) throws {
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        unlink(bundle.path + "/" + name)
        #expect(mkfifo(bundle.path + "/" + name, 0o600) == 0)
        #expect(try problem() == .notAFile(name: name, found: "a named pipe"))
    }

    @Test("A bundle may be a symbolic link, and has the path of the link and its own")
    func linkedBundle() throws {
        let real = try PlainBundle("com.example.x", in: folder.path("kept"), name: "x-1.0")
        try FileManager.default.createDirectory(atPath: folder.path("a"), withIntermediateDirectories: true)
        let link = folder.path("a/com.example.x.searchext")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../kept/x-1.0.searchext")
        let bundle = try #require(search("a").extensions.first)
        #expect(bundle.path == link)
        #expect(bundle.directory.hasSuffix("/kept/x-1.0.searchext"))
        #expect(bundle.libraryPath?.hasSuffix("/kept/x-1.0.searchext/library.so") == true)
        chmod(folder.path("kept"), 0o777)
        guard case .writableByOthers(let path, _) = try problem() else {
            Issue.record("taken from a folder that others may change")
            return
        }
        #expect(path.contains("kept"))
        chmod(folder.path("kept"), 0o1777)
        #expect(search("a").extensions.count == 1, "no other user can replace it in a sticky folder")
        unlink(link)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "../nowhere")
        #expect(try problem() == .notADirectory(found: "a dangling symbolic link"))
        _ = real
    }

    @Test("Bundles of a directory that others may write to are rejected, unless it is sticky")
    func writableSearchPath() throws {
        try PlainBundle("com.example.x", in: folder.path("a"))
        chmod(folder.path("a"), 0o777)
        guard case .writableByOthers(folder.path("a"), _) = try problem() else {
            Issue.record("taken")
            return
        }
        chmod(folder.path("a"), 0o1777)
        #expect(search("a").extensions.count == 1)
    }

    @Test(
        "A path that an access list makes writable for another user is rejected, as with a mode",
        .enabled(if: AccessList.isSupported), arguments: ["", "/Info.plist", "/library.so", "/.."])
    func accessList(name: String) throws {
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        var list = AccessList()
        list.users = [12_345: [.read, .search]]
        try #require(list.set(bundle.path + name))
        #expect(search("a").extensions.count == 1, "others may only read it")
        list.users = [12_345: [.read, .write, .search]]
        try #require(list.set(bundle.path + name))
        guard case .writableByOthers(_, let detail) = try problem() else {
            Issue.record("taken")
            return
        }
        #expect(detail.contains("access list"))
    }

    @Test("A library with a set-user-ID or set-group-ID bit is rejected")
    func setUserIdentifier() throws {
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        chmod(bundle.path + "/library.so", 0o4755)
        #expect(try problem() == .privileged(name: "library.so", mode: "4755"))
    }

    @Test("A file with the name of a bundle is reported")
    func file() throws {
        try FileManager.default.createDirectory(atPath: folder.path("a"), withIntermediateDirectories: true)
        try folder.write([1], to: "a/com.example.x.searchext")
        #expect(try problem() == .notADirectory(found: "a file"))
    }

    @Test("An unreadable, empty or truncated library is rejected, each with its reason")
    func libraries() throws {
        let bundle = try PlainBundle("com.example.x", in: folder.path("a"))
        try bundle.write([], to: "library.so")
        #expect(try problem() == .notALibrary(name: "library.so", found: "the file is empty"))
        try bundle.write(Array(PlainBundle.library.prefix(200)), to: "library.so")
        guard case .damagedLibrary = try problem() else {
            Issue.record("taken")
            return
        }
        unlink(bundle.path + "/library.so")
        #expect(try problem() == .libraryUnreadable(name: "library.so", reason: "no such file or directory"))
    }

    @Test("A folder is searched once, with any number of slashes in the environment")
    func slashes() {
        let environment = [
            "HOME": "/home/me", "XDG_DATA_HOME": "/home/me/data/", "XDG_DATA_DIRS": "/usr/share/:/usr/share://opt//x/",
        ]
        let path = ExtensionRegistry.standardSearchPath(explicit: "/a//b/", environment: environment)
        #expect(
            ExtensionRegistry(searchPath: path).searchPath == [
                "/a/b", "/home/me/data/searchlight/extensions", "/usr/share/searchlight/extensions",
                "/opt/x/searchlight/extensions",
            ])
        #expect(ExtensionRegistry.userDirectory(environment: environment) == path[1])
    }
}
