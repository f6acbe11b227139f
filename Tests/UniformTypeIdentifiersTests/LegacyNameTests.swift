// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UniformTypeIdentifiers

@Suite("Names and functions before UTType")
struct LegacyNameTests {
    @Test("Old constants are identifiers, with and without a cast")
    func constants() {
        #expect(kUTTypeText as String == UTType.text.identifier)
        #expect(kUTTypeScalableVectorGraphics == UTType.svg.identifier)
        #expect(UTType(kUTType3DContent as String) == .threeDContent)
    }

    @Test("Old functions agree with UTType")
    func functions() {
        #expect(UTTypeConformsTo("PUBLIC.png" as CFString, kUTTypeImage))
        #expect(!UTTypeConformsTo(kUTTypeImage, kUTTypePNG))
        #expect(UTTypeConformsTo("com.example.nobody", "com.example.NOBODY"))
        #expect(UTTypeEqual("a.B", "A.b"))
        let png = UTTypeCreatePreferredIdentifierForTag(kUTTagClassFilenameExtension, "png" as CFString, nil)
        #expect(png?.takeRetainedValue() as String? == "public.png")
        let all = UTTypeCreateAllIdentifiersForTag(kUTTagClassFilenameExtension, "mp4", nil)?.takeUnretainedValue()
        #expect(all == ["public.mpeg-4", "public.mpeg-4-audio"])
        #expect(
            UTTypeCopyPreferredTagWithClass(kUTTypeJPEG, kUTTagClassMIMEType)?.takeRetainedValue() == "image/jpeg")
        #expect(UTTypeCopyAllTagsWithClass(kUTTypeItem, kUTTagClassMIMEType) == nil)
        #expect(UTTypeCopyDescription(kUTTypePDF) != nil)
        #expect(UTTypeIsDeclared(kUTTypePDF) && !UTTypeIsDynamic(kUTTypePDF) && UTTypeIsDynamic("dyn.age80s52"))
        #expect(!UTTypeIsDeclared("com.example.nobody"))
    }

    @Test("Four-character codes and texts")
    func codes() {
        #expect(UTGetOSTypeFromString("TEXT") == 0x5445_5854)
        #expect(UTCreateStringForOSType(0x6675_726C).takeRetainedValue() == "furl")
        #expect(UTGetOSTypeFromString("toolong") == 0)
        #expect(UTCreateStringForOSType(1).takeRetainedValue() == "")
        #expect(UTCreateStringForOSType(0).takeRetainedValue() == "")
        #expect(UTCreateStringForOSType(0x4D50_0000).takeRetainedValue() == "MP\0\0")
        #expect(UTGetOSTypeFromString("MP\0\0") == 0x4D50_0000)
        #expect(UTCreateStringForOSType(0x4D00_5000).takeRetainedValue() == "")
    }

    @Test("A declaration has the keys of an Info.plist; an undeclared type has none")
    func declarations() throws {
        let png = try #require(UTTypeCopyDeclaration("PUBLIC.png")?.takeRetainedValue())
        #expect(png[kUTTypeIdentifierKey] as? String == "public.png")
        #expect(png[kUTTypeConformsToKey] as? [String] == ["public.image"])
        #expect(png[kUTTypeDescriptionKey] as? String == UTType.png.localizedDescription)
        let tags = png[kUTTypeTagSpecificationKey] as? [String: [String]]
        #expect(tags?[kUTTagClassFilenameExtension] == ["png"] && tags?[kUTTagClassMIMEType] == ["image/png"])
        #expect(png[kUTTypeVersionKey] == nil && UTTypeCopyDeclaringBundleURL(kUTTypePNG) == nil)
        for name in ["com.example.nobody", "dyn.age80s52", ""] {
            #expect(UTTypeCopyDeclaration(name) == nil && UTTypeCopyDeclaringBundleURL(name) == nil)
        }

        let bundle = "com.example.\(UUID().uuidString)"
        let name = bundle + ".sheet"
        let sheet = UTTypeDeclaration(
            identifier: name, conformsTo: ["public.plain-text"], tags: [.mimeType: ["text/x-sheet"]],
            localizedDescription: "Sheet", version: 3, referenceURL: "https://sheet.example/")
        UTTypeRegistry.shared.register([sheet], ofBundle: bundle, at: "/opt/sheets.searchext")
        defer { UTTypeRegistry.shared.withdraw(bundle: bundle) }
        let declared = try #require(UTTypeCopyDeclaration(name)?.takeUnretainedValue())
        #expect(declared[kUTTypeConformsToKey] as? [String] == ["public.plain-text"])
        #expect(declared[kUTTypeVersionKey] as? Int == 3)
        #expect(declared[kUTTypeReferenceURLKey] as? String == "https://sheet.example/")
        #expect(UTTypeCopyDeclaringBundleURL(name)?.takeRetainedValue().path == "/opt/sheets.searchext")
    }
}
