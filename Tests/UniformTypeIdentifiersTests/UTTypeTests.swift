// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import UniformTypeIdentifiers

@Suite("UTType")
struct UTTypeTests {
    @Test("Identifiers are compared ignoring case")
    func identifiersIgnoreCase() throws {
        let type = try #require(UTType("PUBLIC.Png"))
        #expect(type == .png)
        #expect(type.hashValue == UTType.png.hashValue)
        #expect(type.identifier == "public.png")
    }

    @Test(
        "An undeclared identifier is not a type",
        arguments: [
            "", "com.example.undeclared", "image/png", "dev.kaya/note", "public.png ", ".", "dyn.", "dyn.b", "\0",
        ])
    func undeclared(identifier: String) { #expect(UTType(identifier) == nil) }

    @Test("Conformance is reflexive; subtype and supertype are strict")
    func relations() {
        #expect(UTType.png.conforms(to: .png))
        #expect(UTType.png.conforms(to: .image) && !UTType.image.conforms(to: .png))
        #expect(UTType.png.isSubtype(of: .data) && !UTType.png.isSubtype(of: .png))
        #expect(UTType.data.isSupertype(of: .png) && !UTType.png.isSupertype(of: .png))
        #expect(!UTType.content.conforms(to: .item) && !UTType.data.conforms(to: .content))
        #expect(!UTType.json.conforms(to: .plainText) && UTType.json.conforms(to: .text))
        #expect(!UTType.mpeg4Audio.conforms(to: .movie))
        #expect(UTType.rtfd.conforms(to: .item) && !UTType.rtfd.conforms(to: .data))
        #expect(UTType.zip.supertypes.contains(.archive) && !UTType.zip.supertypes.contains(.zip))
    }

    /// The chosen types that real systems were recorded to return.
    @Test(
        "Recorded winners of an extension",
        arguments: [
            ("app", "com.apple.application-file"), ("fs", "org.khronos.glsl.fragment-shader"),
            ("key", "com.apple.iwork.keynote.sffkey"), ("kth", "com.apple.iwork.keynote.sffkth"),
            ("pages", "com.apple.iwork.pages.sffpages"), ("mp4", "public.mpeg-4"), ("mpg4", "public.mpeg-4"),
            ("mpkg", "com.apple.installer-package-archive"), ("pkg", "com.apple.installer-package-archive"),
            ("otc", "public.opentype-collection-font"), ("otf", "public.opentype-font"), ("smf", "public.midi-audio"),
            ("pic", "com.apple.pict"), ("pkpass", "com.apple.pkpass-data"), ("plist", "com.apple.property-list"),
            ("raw", "com.panasonic.raw-image"), ("ts", "public.mpeg-2-transport-stream"),
            ("usda", "com.pixar.universal-scene-description-utf8"), ("xml", "public.xml"), ("PNG", "public.png"),
            ("gz", "org.gnu.gnu-zip-archive"), ("md", "net.daringfireball.markdown"),
        ])
    func winners(tag: String, identifier: String) {
        #expect(UTType(filenameExtension: tag)?.identifier == identifier)
    }

    @Test(
        "Recorded winners with no parent or a directory parent",
        arguments: [
            ("app", "com.apple.application-bundle"), ("key", "com.apple.iwork.keynote.key"),
            ("pages", "com.apple.iwork.pages.pages"), ("mpkg", "com.apple.installer-package-archive"),
            ("pkg", "com.apple.installer-package-archive"), ("rtfd", "com.apple.rtfd"),
        ])
    func winnersWithoutParent(tag: String, identifier: String) {
        #expect(UTType(tag: tag, tagClass: .filenameExtension, conformingTo: nil)?.identifier == identifier)
    }

    @Test("Directory types need a directory parent", arguments: ["rtfd", "wdgt", "saver", "lpdf"])
    func directoryTypes(tag: String) throws {
        let data = try #require(UTType(filenameExtension: tag))
        #expect(data.isDynamic && data.conforms(to: .data) && data.preferredFilenameExtension == tag)
        let package = try #require(UTType(filenameExtension: tag, conformingTo: .directory))
        #expect(package.isDeclared && package.conforms(to: .directory))
    }

    @Test("A MIME type that several types share belongs to the first of the table")
    func sharedMIMETypes() {
        #expect(UTType(mimeType: "application/msword")?.identifier == "com.microsoft.word.doc")
        #expect(UTType(mimeType: "application/x-msdownload")?.identifier == "com.microsoft.windows-executable")
        #expect(UTType(mimeType: "TEXT/PLAIN;charset=utf-8") == .utf8PlainText)
    }

    @Test("Old pasteboard names and codes are tags with significant case")
    func oldNames() {
        #expect(UTType(tag: "furl", tagClass: .osType, conformingTo: nil) == .fileURL)
        #expect(UTType(tag: "FURL", tagClass: .osType, conformingTo: nil)?.isDynamic == true)
        #expect(UTType(tag: "Apple PNG pasteboard type", tagClass: .pasteboardType, conformingTo: nil) == .png)
        #expect(UTType.tiff.tags[.pasteboardType] == ["NeXT TIFF v4.0 pasteboard type"])
    }

    @Test("Unknown tag classes and malformed tags have no type")
    func malformedTags() {
        #expect(UTType(tag: "png", tagClass: UTTagClass(rawValue: "com.example.class"), conformingTo: nil) == nil)
        #expect(UTType(filenameExtension: "p\0ng") == nil)
        #expect(UTType(mimeType: "") == nil)
        #expect(UTType(filenameExtension: String(repeating: "x", count: 100_000)) == nil)
        #expect(UTType.types(tag: "a\nb", tagClass: .mimeType, conformingTo: nil).isEmpty)
    }

    @Test("A type is encoded as its identifier and decoded again, declared or not")
    func coding() throws {
        let types: [UTType] = [.png, UTType(exportedAs: "com.example.gone"), try #require(UTType("dyn.age80s52"))]
        let data = try JSONEncoder().encode(types)
        #expect(
            String(decoding: data, as: UTF8.self) == #"["public.png","com.example.gone","dyn.age80s52"]"#)
        #expect(try JSONDecoder().decode([UTType].self, from: data) == types)
        for text in ["image/png", "", "dyn.x"] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([UTType].self, from: JSONEncoder().encode([text]))
            }
        }
    }

    @Test("An exported name that is not registered conforms to its given parent")
    func exportedNames() {
        let note = UTType(exportedAs: "com.Example.Note", conformingTo: .plainText)
        #expect(note.identifier == "com.example.note" && !note.isDeclared && !note.isDynamic)
        #expect(note.conforms(to: .text) && note.conforms(to: note) && !note.conforms(to: .image))
        #expect(UTType(exportedAs: "com.example.blob").conforms(to: .data))
        let diary = UTType(exportedAs: "com.example.diary", conformingTo: note)
        #expect(diary.conforms(to: note) && diary.conforms(to: .plainText))
        #expect(UTType(exportedAs: "public.png") == .png)
        #expect(note == UTType(importedAs: "com.example.note"))
    }

    @Test("An imported name yields to the preferred owner of its extension")
    func importedNames() {
        #expect(UTType(importedAs: "com.microsoft.typescript") == .mpeg2TransportStream)
        #expect(UTType(importedAs: "public.png") == .png)
        #expect(UTType(importedAs: "com.apple.rtfd") == .rtfd)
    }
}
