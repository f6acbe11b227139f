// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import UniformTypeIdentifiers

/// A folder that is removed after the test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "searchlight-types-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes a file and returns its path.
    @discardableResult
    func write(_ name: String, _ bytes: [UInt8], permissions: Int = 0o644) throws -> String {
        let url = URL(filePath: path).appending(path: name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path)
        return url.path
    }

    @discardableResult
    func write(_ name: String, _ text: String, permissions: Int = 0o644) throws -> String {
        try write(name, Array(text.utf8), permissions: permissions)
    }
}

/// A small database in two folders, written for these tests.
struct SampleDatabase {
    let folder: TemporaryFolder
    let database: SharedMIMEInfo

    static func rule(_ head: String, _ value: [UInt8], _ tail: [UInt8] = []) -> [UInt8] {
        Array(head.utf8) + [UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value + tail + [0x0A]
    }

    static let magic: [UInt8] =
        Array("MIME-Magic\0\n[50:image/x-frob]\n".utf8) + rule(">2=", Array("FROB".utf8))
        + Array("[90:application/x-nested]\n".utf8) + rule(">0=", Array("AA".utf8)) + rule("1>4=", Array("B".utf8))
        + rule("1>5=", Array("C".utf8)) + rule("2>6=", Array("D".utf8))
        + Array("[60:image/png]\n".utf8) + rule(">0=", [0x89, 0x50, 0x4E, 0x47])
        + Array("[40:application/x-masked]\n".utf8) + rule(">0=", [0x10, 0x22], Array("&".utf8) + [0xF0, 0xFF])
        + Array("[40:application/x-word]\n".utf8) + rule(">0=", [0x12, 0x34], Array("~2".utf8))
        + Array("[30:application/x-range]\n".utf8) + rule(">1=", Array("xyz".utf8), Array("+10".utf8))

    init() throws {
        folder = try TemporaryFolder()
        try folder.write(
            "user/globs2", "# comment\n80:text/x-mine:*.foo\n0:text/x-gone:__NOGLOBS__\nnonsense\n:::\n50:a b:*.x\n")
        try folder.write(
            "system/globs2",
            """
            50:text/x-theirs:*.foo
            50:text/x-gone:*.gone
            50:text/x-csrc:*.c
            50:text/x-c++src:*.C:cs
            50:application/x-compressed-tar:*.tar.gz
            50:application/gzip:*.gz
            50:text/x-makefile:makefile
            50:image/x-frob:*.frob
            50:image/png:*.pingish
            50:image/jpeg:*.pictish
            50:image/png:*.pictish
            10:text/x-readme:readme*
            60:application/x-sharedlib:*.so.[0-9]*
            50:text/x-verse:*.verse
            50:application/x-recipe:*.recipe
            50:application/x-opaque:*.opaque
            """)
        try folder.write(
            "system/aliases",
            "image/x-png image/png\ntext/x-sh application/x-shellscript\nimage/heic image/heif\ncircle/a circle/b\ncircle/b circle/a\n"
        )
        try folder.write(
            "system/subclasses",
            "application/x-recipe text/plain\nimage/x-frob image/tiff\ntext/x-deep text/x-middle\ntext/x-middle text/x-csrc\ncircle/x circle/y\ncircle/y circle/x\n"
        )
        try folder.write("system/magic", SampleDatabase.magic)
        database = SharedMIMEInfo(roots: [folder.path + "/user", folder.path + "/missing", folder.path + "/system"])
    }
}

extension SampleDatabase {
    /// Passes the database to a closure. Its files are read lazily, so the folder must outlive the
    /// queries.
    static func use<Answer>(_ body: (SharedMIMEInfo) throws -> Answer) throws -> Answer {
        let sample = try SampleDatabase()
        return try withExtendedLifetime(sample) { try body(sample.database) }
    }
}

@Suite("The desktop's database")
struct SharedMIMEInfoTests {
    @Test("Folders come from the environment, and relative paths are ignored")
    func standardRoots() {
        #expect(
            SharedMIMEInfo.standardRoots(environment: ["HOME": "/home/a"]) == [
                "/home/a/.local/share/mime", "/usr/local/share/mime", "/usr/share/mime",
            ])
        #expect(
            SharedMIMEInfo.standardRoots(environment: [
                "HOME": "/h", "XDG_DATA_HOME": "/d/", "XDG_DATA_DIRS": "/a:rel::/b",
            ]) == ["/d/mime", "/a/mime", "/b/mime"])
        #expect(SharedMIMEInfo.standardRoots(environment: ["HOME": "rel", "XDG_DATA_DIRS": "x"]).isEmpty)
    }

    @Test(
        "File names are matched by weight, length and case",
        arguments: [
            ("a.foo", ["text/x-mine"]), ("a.gone", []), ("a.c", ["text/x-csrc"]), ("a.C", ["text/x-c++src"]),
            ("a.tar.gz", ["application/x-compressed-tar"]), ("A.GZ", ["application/gzip"]),
            ("Makefile", ["text/x-makefile"]), ("README.md", ["text/x-readme"]),
            ("libx.so.6", ["application/x-sharedlib"]),
            ("libx.so.x", []), ("", []), ("/dir/x.foo", ["text/x-mine"]), ("a.pictish", ["image/jpeg", "image/png"]),
        ] as [(String, [String])])
    func names(name: String, types: [String]) throws {
        #expect(try SampleDatabase.use { $0.mimeTypes(forFileNamed: name) } == types)
    }

    @Test("Wildcards match as in a shell")
    func wildcards() {
        let matches = { (pattern: String, text: String) in
            MIMEGlobs.matches(Array(pattern.utf8)[...], Array(text.utf8)[...])
        }
        #expect(
            matches("*.[1-9]", "x.3") && !matches("*.[1-9]", "x.0") && matches("[!a]b", "cb") && !matches("[!a]b", "ab")
        )
        #expect(matches("a?c", "abc") && !matches("a?c", "ac") && matches("**", "") && matches("*a*b*", "xxaxxbxx"))
        #expect(matches("[]]", "]") && matches("[x", "[x") && !matches("", "a") && matches("", ""))
        #expect(!matches(String(repeating: "*a", count: 100) + "b", String(repeating: "a", count: 250)))
    }

    @Test(
        "Contents are matched by nested rules, masks, words and ranges",
        arguments: [
            ("..FROB", "image/x-frob"), ("AA..B", "application/x-nested"), ("AA...CD", "application/x-nested"),
            ("AA...C", nil), ("AA", nil), ("\u{15}\u{22}", "application/x-masked"), ("\u{15}\u{23}", nil),
            (".....xyz", "application/x-range"), ("...........xyz", nil), ("", nil),
            ("\u{34}\u{12}", "application/x-word"),
        ] as [(String, String?)])
    func contents(text: String, type: String?) throws {
        #expect(try SampleDatabase.use { $0.mimeType(ofContents: Array(text.utf8)) } == type)
    }

    @Test("Uniform types of MIME types: tag, other spelling, alias, or a dynamic type below the nearest parent")
    func fromMIME() throws {
        let sample = try SampleDatabase()
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        #expect(database.type(mimeType: "IMAGE/PNG") == .png)
        #expect(database.type(mimeType: "text/html; charset=utf-8") == .html)
        #expect(database.type(mimeType: "text/plain;charset=\"UTF-8\"") == .utf8PlainText)
        #expect(database.type(mimeType: "text/plain; format=flowed; charset=utf-16")?.conforms(to: .plainText) == true)
        #expect(database.type(mimeType: "UTF8_STRING") == .utf8PlainText)
        #expect(database.type(mimeType: "application/x-shellscript") == .shellScript)
        #expect(database.type(mimeType: "text/x-sh") == .shellScript)
        #expect(database.type(mimeType: "image/x-png") == .png)
        #expect(database.type(mimeType: "image/heic") == .heic)
        let frob = try #require(database.type(mimeType: "image/x-frob"))
        #expect(frob.isDynamic && frob.conforms(to: .tiff) && frob.tags[.mimeType] == ["image/x-frob"])
        #expect(database.type(mimeType: "text/x-deep")?.conforms(to: .cSource) == true)
        #expect(database.type(mimeType: "audio/x-unknown")?.conforms(to: .audio) == true)
        #expect(database.type(mimeType: "circle/x")?.supertypes == [.data, .item])
        #expect(database.type(mimeType: "circle/a")?.isDynamic == true)
        for text in ["", "nonsense", "text/uri-list", "a/b\0", " ", "/ /", String(repeating: "a/", count: 5000)] {
            #expect(database.type(mimeType: text) == nil)
        }
    }

    @Test("MIME types of uniform types: both spellings, or a private name that can be converted back")
    func toMIME() throws {
        let sample = try SampleDatabase()
        defer { withExtendedLifetime(sample) {} }
        let database = sample.database
        #expect(database.mimeTypes(for: .png) == ["image/png", "image/x-png"])
        #expect(database.mimeTypes(for: .shellScript).contains("application/x-shellscript"))
        // `image/heic` is an alias in the database but a separate type here, so it is not offered.
        #expect(!database.mimeTypes(for: .heif).contains("image/heic"))
        let swift = database.mimeTypes(for: .swiftSource)
        #expect(swift == ["application/x-uniform-type.public.swift-source"])
        #expect(database.type(mimeType: swift[0]) == .swiftSource)
        let named = UTType(exportedAs: "com.example.größe")
        let name = SharedMIMEInfo.privateName(of: named)
        #expect(name.utf8.allSatisfy { $0 < 0x80 })
        #expect(SharedMIMEInfo.identifier(inPrivateName: name) == named.identifier)
        for text in ["%", "%4", "%zz", "%ff", "a b", "", "%+1"] {
            #expect(SharedMIMEInfo.identifier(inPrivateName: SharedMIMEInfo.privatePrefix + text) == nil)
        }
    }

    @Test("Every fixed override names a declared type")
    func overridesExist() {
        for identifier in SharedMIMEInfo.overrides.values { #expect(UTType(identifier) != nil, "\(identifier)") }
    }

    @Test("Declared types are unchanged after conversion to MIME and back, except for those that share a MIME tag")
    func roundTrip() {
        let database = SharedMIMEInfo(roots: [])
        for type in UTTypeSnapshot.core.declaredTypes {
            let name = database.mimeTypes(for: type)[0]
            let sharing = UTType.types(tag: name, tagClass: .mimeType, conformingTo: nil)
            guard let back = database.type(mimeType: name) else {
                Issue.record("\(type): \(name)")
                continue
            }
            #expect(
                back == type || (sharing.contains(type) && sharing.first == back) || name.contains("charset"), "\(type)"
            )
        }
    }

    @Test("A missing or empty database has no entries and does no harm")
    func missing() {
        let database = SharedMIMEInfo(roots: ["/nonexistent", "", "/dev/null", "/dev"])
        #expect(database.mimeTypes(forFileNamed: "a.png").isEmpty && database.mimeType(ofContents: [1, 2, 3]) == nil)
        #expect(database.type(mimeType: "image/png") == .png && database.type(mimeType: "x/y")?.isDynamic == true)
    }

    @Test("Damaged files never cause a crash", arguments: 0..<20 as Range<UInt64>)
    func fuzz(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let folder = try TemporaryFolder()
        let globs = Array("50:text/x-a:*.a\n60:text/x-b:b[\n10:text/x-c:*\n".utf8)
        let lists = Array("a/b c/d\nc/d a/b\n".utf8)
        for (name, original) in [
            ("magic", SampleDatabase.magic), ("globs2", globs), ("aliases", lists), ("subclasses", lists),
        ] {
            var bytes = original
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) {
                bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
            }
            try folder.write(name, bytes)
        }
        let database = SharedMIMEInfo(roots: [folder.path])
        for _ in 0..<50 {
            let bytes = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            if let type = database.mimeType(ofContents: bytes) { #expect(type.contains("/")) }
            let name = String(decoding: bytes.prefix(8), as: UTF8.self)
            for type in database.mimeTypes(forFileNamed: name) { #expect(type.contains("/")) }
        }
        #expect(database.type(mimeType: "a/b")?.isDynamic == true)
    }

    @Test("A hostile rule costs at most the budget")
    func budget() {
        var magic = MIMEMagic()
        var bytes = Array("MIME-Magic\0\n".utf8)
        let value = [UInt8](repeating: 0x61, count: 1023) + [0x62]
        for number in 0..<200 {
            bytes += Array("[50:application/x-\(number)]\n".utf8)
            bytes += SampleDatabase.rule(">0=", value, Array("+60000".utf8))
        }
        magic.add(bytes)
        magic.finish()
        #expect(magic.sections.count == 200)
        // Without a limit, this would take 12 thousand million comparisons.
        #expect(magic.mimeType(of: [UInt8](repeating: 0x61, count: 64 << 10)) == nil)
    }

    @Test(
        "The installed database agrees with the measurements of the reference",
        .enabled(if: FileManager.default.fileExists(atPath: "/usr/share/mime/globs2")))
    func installed() {
        let database = SharedMIMEInfo(roots: ["/usr/share/mime"])
        #expect(database.type(mimeType: "application/javascript") == .javaScript)
        #expect(database.mimeTypes(forFileNamed: "x.tar.gz") == ["application/x-compressed-tar"])
        #expect(database.mimeType(ofContents: [0x89] + Array("PNG\r\n\u{1A}\n".utf8)) == "image/png")
        #expect(database.mimeType(ofContents: Array("%PDF-1.7\n".utf8)) == "application/pdf")
        #expect(database.mimeType(ofContents: Array("#!/bin/sh\necho\n".utf8)) == "application/x-shellscript")
        #expect(database.canonicalName(of: "image/heic") == "image/heif")
        #expect(database.type(mimeType: "image/heic") == .heic)
    }
}

@Suite("Types of files")
struct FileTypeTests {
    @Test(
        "A name and a kind give a type",
        arguments: [
            ("a.png", UTFileKind.regular(isExecutable: false), "public.png"),
            ("a.txt", .regular(isExecutable: true), "public.plain-text"),
            ("x.tar.gz", .regular(isExecutable: false), "org.gnu.gnu-zip-archive"),
            ("noext", .regular(isExecutable: false), "public.data"),
            ("run", .regular(isExecutable: true), "public.unix-executable"),
            (".bashrc", .regular(isExecutable: false), "public.data"),
            ("a.sql", .regular(isExecutable: false), "dyn.ah62d4rv4ge81g6pq"),
            ("a.rtfd", .directory, "com.apple.rtfd"), ("a.app", .directory, "com.apple.application-bundle"),
            ("photos", .directory, "public.folder"), ("a.png", .directory, "public.folder"),
            ("/", .volume, "public.volume"),
            ("a.png", .symbolicLink, "public.symlink"), ("p", .namedPipe, "public.named-pipe"),
            ("s", .socket, "public.socket"),
            ("c", .characterDevice, "public.character-special"), ("b", .blockDevice, "public.block-special"),
        ] as [(String, UTFileKind, String)])
    func names(name: String, kind: UTFileKind, identifier: String) {
        #expect(UTType.type(ofFileNamed: name, kind: kind).identifier == identifier)
    }

    @Test("A pattern without a declared type gives the supertype of a file")
    func patternsWithoutTypes() throws {
        try SampleDatabase.use { database in
            func type(_ name: String, _ contents: String = "") -> (type: UTType, evidence: SharedMIMEInfo.Evidence) {
                let found = database.type(ofFileNamed: name, kind: .regular(isExecutable: false)) {
                    Array(contents.utf8)
                }
                return (found.type, found.evidence)
            }
            let verse = type("a.VERSE", "\u{89}PNG")
            #expect(verse.evidence == .desktopPattern && verse.type == UTType("dyn.ah62d4r34ge81q3pwsrwu"))
            #expect(verse.type.tags == [.filenameExtension: ["verse"]] && verse.type.conforms(to: .text))
            #expect(type("a.recipe").type.conforms(to: .plainText))
            #expect(type("a.frob").type.conforms(to: .tiff))
            let opaque = type("a.opaque")
            #expect(opaque.type == UTType(filenameExtension: "opaque") && opaque.evidence == .nothing)
        }
    }

    @Test("The contents choose between two declared types with one extension, text or not")
    func textOrNot() {
        let database = SharedMIMEInfo(roots: [])
        func type(_ name: String, _ bytes: [UInt8]) -> UTType {
            database.type(ofFileNamed: name, kind: .regular(isExecutable: false)) { bytes }.type
        }
        let stream: [UInt8] = [0x47, 0x40, 0, 0x10, 0, 0, 0xB0, 0x0D]
        #expect(type("a.ts", Array("export const x = 1;\n".utf8)).identifier == "com.microsoft.typescript")
        #expect(type("a.TS", stream).identifier == "public.mpeg-2-transport-stream")
        #expect(type("a.ts", []).identifier == "public.mpeg-2-transport-stream")
        #expect(type("a.txt", stream) == .plainText)
        #expect(type("a.png", Array("text".utf8)) == .png)
    }

    @Test("The type of a file follows from kind, extension, pattern, execute bit and contents, in this order")
    func files() throws {
        let sample = try SampleDatabase()
        defer { withExtendedLifetime(sample) {} }
        let folder = try TemporaryFolder()
        let judge = { (path: String) in sample.database.type(ofFile: path).map { ($0.type, $0.evidence) } }
        let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47]
        // The file extension decides, even if the contents disagree.
        #expect(try #require(judge(folder.write("a.txt", png))) == (.plainText, .filenameExtension))
        #expect(try #require(judge(folder.write("a", png))) == (.png, .contents))
        #expect(try #require(judge(folder.write("b.pingish", "text"))) == (.png, .desktopPattern))
        #expect(try #require(judge(folder.write("c.pictish", png))) == (.png, .contents))
        #expect(try #require(judge(folder.write("d.pictish", "?"))) == (.jpeg, .desktopPattern))
        #expect(try #require(judge(folder.write("Makefile", "all:"))) == (.makefile, .desktopPattern))
        #expect(try #require(judge(folder.write("run", png, permissions: 0o755))) == (.unixExecutable, .executableBit))
        #expect(try #require(judge(folder.write("README", "Hällo\n"))) == (.plainText, .contents))
        #expect(try #require(judge(folder.write("blob", [0, 1, 2]))) == (.data, .nothing))
        #expect(try #require(judge(folder.write("empty", ""))) == (.data, .nothing))
        #expect(try #require(judge(folder.write("y.unheardof", png))) == (.png, .contents))
        let unknown = try #require(judge(folder.write("x.unheardof", "readable")))
        #expect(unknown.0.isDynamic && unknown.1 == .nothing)
        #expect(try #require(judge(folder.path)) == (.folder, .kind))
        #expect(try #require(judge("/dev/null")).0.identifier == "public.character-special")
        #expect(try #require(judge("/")) == (.volume, .kind))
        try FileManager.default.createSymbolicLink(atPath: folder.path + "/l.png", withDestinationPath: "/nowhere")
        #expect(try #require(judge(folder.path + "/l.png")) == (.symbolicLink, .kind))
        #expect(judge(folder.path + "/nothing") == nil)
    }

    @Test("Text that is truncated within a character is text, broken text is not")
    func cutText() {
        let database = SharedMIMEInfo(roots: [])
        let long = Array((String(repeating: "a", count: 4095) + "é" + String(repeating: "b", count: 100)).utf8)
        #expect(database.type(ofContents: long) == .plainText)
        #expect(database.type(ofContents: [0x61, 0xC3]) == nil)
        #expect(database.type(ofContents: [0x61, 0xC3, 0x28, 0x61]) == nil)
        #expect(database.type(ofContents: []) == nil)
    }
}
