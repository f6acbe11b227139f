// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import UniformTypeIdentifiers

@Suite("Dynamic types")
struct DynamicTypeTests {
    /// Recorded identifiers, and the text that they encode.
    static let vectors: [(String, String)] = [
        ("dyn.ah62d4rv4ge81g6pq", "?0=6:1=sql"),
        ("dyn.ah62d4rv4ge80s4pyrfx0655wqy", "?0=6:1=gitignore"),
        ("dyn.age80s52", "1=go"),
        ("dyn.age8u", "1="),
        ("dyn.ah62d4rv4ge8u", "?0=6:1="),
        ("dyn.ah62d4qmuhk2x43dts71g255bqu", "?0=10:1=download"),
        ("dyn.ah62d4rv4gq80k3p0f3z0c8pbf71g87df", "?0=6:3=dev.kaya/note"),
        ("dyn.agq80k3p0f3z0c8pbf71g87df", "3=dev.kaya/note"),
        ("dyn.ah62d4rv4gu80k3p0f3z0c8pbf71g87df", "?0=6:4=dev.kaya/note"),
        ("dyn.ah62d4rv4gu8y6y4grf0gn5xbrzw1gydcr7u1e3cytf2gn", "?0=6:4=NSFilenamesPboardType"),
        ("dyn.ah62d4rv4gk81g7d3ru", "?0=6:2=styl"),
        ("dyn.agk8y8uwnku", "2=OBJD"),
        ("dyn.ah62d4uv4ge804550", "?0=B:1=mov"),
        ("dyn.ah62d4r34gq81k3p2su1zuppgsm10esvvhzxhe55c", "?0=7:3=text/X-frob:1=frob"),
        (
            "dyn.ah62d46dzqm0gw23srf4gn5m4ge8068dytf2gn3dgrf0gn25tr34gn5xysr2ge55bsmwhk8puqzsdy4xuq6",
            #"?0=public.item:1=nxtypedfilecontentspboardtype\:jpg"#
        ),
    ]

    @Test("Recorded identifiers are unchanged after reading and writing", arguments: vectors)
    func vectorsBothWays(identifier: String, decoded: String) throws {
        let read = try #require(DynamicTypeIdentifier(identifier))
        #expect(read.description == decoded)
        #expect(read.identifier == identifier)
        let written = try #require(DynamicTypeIdentifier(parent: read.parent, tags: read.tags))
        #expect(written.identifier == identifier)
        let type = try #require(UTType(identifier.uppercased()))
        #expect(type.isDynamic && !type.isDeclared && !type.isPublic && type.localizedDescription == nil)
        #expect(type.identifier == identifier)
    }

    @Test("Look-ups of unknown tags give the recorded identifiers")
    func lookups() {
        #expect(UTType(filenameExtension: "SQL")?.identifier == "dyn.ah62d4rv4ge81g6pq")
        #expect(UTType(filenameExtension: "")?.identifier == "dyn.ah62d4rv4ge8u")
        #expect(
            UTType(filenameExtension: "download", conformingTo: .package)?.identifier
                == "dyn.ah62d4qmuhk2x43dts71g255bqu")
        #expect(UTType(filenameExtension: "mov", conformingTo: .image)?.identifier == "dyn.ah62d4uv4ge804550")
        #expect(UTType(mimeType: "dev.kaya/note")?.identifier == "dyn.ah62d4rv4gq80k3p0f3z0c8pbf71g87df")
        #expect(
            UTType(tag: "dev.kaya/note", tagClass: .mimeType, conformingTo: nil)?.identifier
                == "dyn.agq80k3p0f3z0c8pbf71g87df")
        #expect(
            UTType(tag: "NSFilenamesPboardType", tagClass: .pasteboardType, conformingTo: .data)?.identifier
                == "dyn.ah62d4rv4gu8y6y4grf0gn5xbrzw1gydcr7u1e3cytf2gn")
        #expect(
            UTTypeCreatePreferredIdentifierForTag(kUTTagClassFilenameExtension, "", nil)?.takeRetainedValue()
                == "dyn.age8u")
    }

    @Test("Four-character codes that end in NULs have dynamic types, which are readable; NULs elsewhere do not")
    func codesWithNULs() throws {
        let type = try #require(UTType(tag: "MP\0\0", tagClass: .osType, conformingTo: .data))
        #expect(type.isDynamic && type.tags == [.osType: ["MP\0\0"]])
        #expect(UTType(type.identifier) == type)
        #expect(UTType(tag: "MP3\0", tagClass: .osType, conformingTo: nil)?.identifier == "dyn.agk8y4ybxaa")
        #expect(UTType("dyn.agk8y4ybxaa")?.tags == [.osType: ["MP3\0"]])
        for text in ["\0\0\0\0", "M\0P\0", "MP3\0\0", "\0MP3", "a\0"] {
            #expect(UTType(tag: text, tagClass: .osType, conformingTo: nil) == nil, "\(text.debugDescription)")
        }
        #expect(UTType(tag: "MP3\0", tagClass: .pasteboardType, conformingTo: nil) == nil)
        #expect(UTType(filenameExtension: "mp3\0") == nil)
    }

    @Test("A dynamic type conforms to its parent, its parent's supertypes, and nothing else")
    func conformance() throws {
        let type = try #require(UTType(filenameExtension: "frobnicate", conformingTo: .image))
        #expect(type.conforms(to: type) && type.conforms(to: .image) && type.conforms(to: .content))
        #expect(!type.conforms(to: .png) && !UTType.image.conforms(to: type))
        #expect(type.supertypes == UTType.image.supertypes.union([.image]))
        #expect(type.tags == [.filenameExtension: ["frobnicate"]])
        let rootless = try #require(UTType("dyn.age80s52"))
        #expect(rootless.supertypes.isEmpty && !rootless.conforms(to: .item))
        #expect(rootless.preferredFilenameExtension == "go" && rootless.preferredMIMEType == nil)
        // A type that is not the parent of a core type has no column in the table.
        let below = try #require(UTType(mimeType: "x/y", conformingTo: .png))
        #expect(below.conforms(to: .png) && below.conforms(to: .image) && !below.conforms(to: .gif))
        let twice = try #require(UTType(mimeType: "x/z", conformingTo: below))
        #expect(twice.conforms(to: below) && twice.conforms(to: .png) && !below.conforms(to: twice))
    }

    @Test(
        "Malformed identifiers are no types",
        arguments: [
            "dyn.", "dyn.a", "dyn.b", "dyn.bge80s52", "dyn.age80s5", "dyn.age80s52a", "dyn.age80s52i", "dyn.age80s53",
            "dyn.ah62d4rv4ge81g6p", "dyn.a!", "dyn.aé", "dyn.a9999", "dyn.age80s52 ", "dyn.a\0", "dyn.ah62d4",
        ])
    func malformed(identifier: String) {
        #expect(UTType(identifier) == nil)
        #expect(DynamicTypeIdentifier(identifier) == nil)
    }

    @Test(
        "Malformed texts inside of an identifier are no types",
        arguments: [
            "", "?", "?0=6", "?0=:1=go", "0=6:1=go", "?1=go", "1", "1=go:", "7=x", "6=x", "1=a\\", ":1=a", "1=a\n",
            "?0=a b:1=x",
        ])
    func malformedInside(text: String) {
        #expect(UTType(DynamicTypeIdentifier.encodeBase32(text)) == nil)
    }

    @Test("Any tags are unchanged after writing and reading", arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("ab:\\=,?/+;. \"é日\u{301}Z09")
        let classes: [UTTagClass] = [.filenameExtension, .osType, .mimeType, .pasteboardType, .urlScheme]
        let parents: [String?] = [nil, "public.data", "com.apple.package", "public.png", "com.example.x"]
        for _ in 0..<100 {
            let tags = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                let text = String(
                    (0..<Int.random(in: 0...12, using: &random)).map { _ in alphabet.randomElement(using: &random)! })
                let tagClass = classes.randomElement(using: &random)!
                return DynamicTypeIdentifier.Tag(
                    tagClass: tagClass, value: tagClass == .filenameExtension ? text.lowercased() : text)
            }
            let made = try #require(
                DynamicTypeIdentifier(parent: parents.randomElement(using: &random)!, tags: tags))
            let read = try #require(DynamicTypeIdentifier(made.identifier))
            #expect(read.parent == made.parent)
            #expect(read.tags.map { Array($0.value.utf8) } == tags.map { Array($0.value.utf8) })
            #expect(read.tags.map(\.tagClass) == tags.map(\.tagClass))
            #expect(UTType(made.identifier)?.identifier == made.identifier)
        }
    }

    @Test(
        "Random and damaged identifiers never crash and are read only if well-formed",
        arguments: 0..<20 as Range<UInt64>)
    func fuzz(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let letters = Array("abcdefghkmnpqrstuvwxyz0123456789".utf8)
        var accepted = 0
        for _ in 0..<500 {
            var bytes: [UInt8]
            if Bool.random(using: &random) {
                bytes = Array("dyn.a".utf8)
                bytes += (0..<Int.random(in: 0...40, using: &random)).map { _ in letters.randomElement(using: &random)!
                }
            } else {
                bytes = Array(DynamicTypeTests.vectors.randomElement(using: &random)!.0.utf8)
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    let position = Int.random(in: 0..<bytes.count, using: &random)
                    bytes[position] = letters.randomElement(using: &random)!
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let type = UTType(text) else { continue }
            accepted += 1
            #expect(type.conforms(to: type) && type.identifier == text)
            #expect(type.isDynamic == text.hasPrefix("dyn."))
            _ = type.supertypes
            _ = type.tags
        }
        // About one in seven keeps all its letters. This detects a reader that rejects everything.
        #expect(accepted > 10)
    }

    @Test("Overlong tags and identifiers are rejected, long ones are not")
    func limits() throws {
        let long = String(repeating: "x", count: 255)
        let type = try #require(UTType(filenameExtension: long))
        #expect(UTType(type.identifier) == type)
        #expect(type.preferredFilenameExtension == long)
        #expect(UTType(mimeType: String(repeating: "x", count: 5000)) == nil)
        #expect(UTType("dyn.a" + String(repeating: "a", count: 1_000_000)) == nil)
        #expect(UTType(String(repeating: "a", count: 1_000_000)) == nil)
    }
}
