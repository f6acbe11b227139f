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
    }
}
