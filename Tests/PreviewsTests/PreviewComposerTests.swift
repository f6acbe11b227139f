// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import ItemRecord
import TestSupport
import Testing

@Suite("An extension's reply")
struct PreviewComposerTests {
    private func compose(
        _ type: String, _ content: [UInt8], attachments: [(String, String, [UInt8])] = [], title: String? = nil,
        size: PreviewHeader.Size? = nil, query: String? = nil
    ) throws(PreviewRefusal) -> Preview? {
        let bytes = content + attachments.flatMap(\.2)
        let header = PreviewHeader(
            contentType: type, title: title, size: size,
            attachments: attachments.map {
                PreviewHeader.Attachment(identifier: $0.0, contentType: $0.1, length: $0.2.count)
            })
        return try PreviewComposer(query: query).preview(header, bytes: bytes, title: "The item")
    }

    @Test("Content of its declared type is shown, with title and size")
    func shown() throws {
        let contents: [(String, [UInt8])] = [
            ("public.plain-text", Array("text".utf8)), ("public.rtf", Array("{\\rtf1 x}".utf8)),
            ("com.adobe.pdf", Array("%PDF-1.7".utf8)), ("public.png", Pictures.png(width: 8, height: 8)),
            ("public.jpeg", Pictures.jpeg(width: 8, height: 8)),
        ]
        for (type, bytes) in contents {
            let preview = try #require(try compose(type, bytes))
            #expect(preview.content == bytes && preview.contentType == type && preview.source == .extension)
            #expect(preview.title == "The item" && preview.size == nil && preview.removals.isEmpty)
        }
        let size = PreviewHeader.Size(width: 100, height: 50)
        let preview = try #require(try compose("public.html", Array("<p>x".utf8), title: "A\n\u{1B}title", size: size))
        #expect(preview.title == "A title" && preview.size == size)
        #expect(String(decoding: preview.content, as: UTF8.self).hasSuffix("<body><p>x</p></body></html>"))
        #expect(try compose("public.png", Pictures.png(), size: PreviewHeader.Size(width: 1e9, height: 1))?.size == nil)
        #expect(
            try compose("public.png", Pictures.png(), title: String(repeating: "t", count: 5000))?.title.count == 1001)
    }

    @Test("Content of a wrong type, of no type, or that would expand is rejected with the reason")
    func refused() {
        let contents: [(String, [UInt8], String)] = [
            (
                "public.png", Array("<script>".utf8),
                "declared as public.png, but it should be a PNG image, and begins with"
            ),
            ("public.png", Pictures.jpeg(width: 1, height: 1), "should be a PNG image"),
            ("public.jpeg", Pictures.png(), "JPEG"),
            ("public.html", Pictures.png(), "should be text"), ("public.html", Array("%PDF-1.7 <p>".utf8), "%PDF-"),
            ("public.plain-text", [0x61, 0, 0x62], "NUL"), ("public.utf8-plain-text", [0xFF], "UTF-8"),
            ("com.adobe.pdf", Array("<p>".utf8), "PDF document"), ("public.rtf", Array("<p>".utf8), "rich text"),
            ("public.html", [], "it is empty"), ("public.png", [], "it is empty"),
            ("public.png", Array(Pictures.png().prefix(12)), "without a size"),
            ("public.png", Pictures.png(width: 100_000, height: 100_000), "claims 100000 × 100000 pixels"),
            ("public.jpeg", Pictures.jpeg(width: 65_535, height: 65_535), "claims 65535 × 65535 pixels"),
            ("public.svg-image", Array("<svg/>".utf8), "public.svg-image cannot be shown"),
        ]
        for (type, bytes, reason) in contents {
            let error = #expect(throws: PreviewRefusal.self) { _ = try compose(type, bytes) }
            #expect(error?.reason.contains(reason) == true, "\(type): \(error?.reason ?? "")")
        }
    }

    @Test("UTF-16 with a byte order mark becomes UTF-8, and a mark of UTF-8 is removed")
    func encodings() throws {
        #expect(try compose("public.plain-text", [0xFF, 0xFE, 0x61, 0, 0xE9, 0])?.content == Array("aé".utf8))
        #expect(try compose("public.plain-text", [0xFE, 0xFF, 0, 0x61])?.content == Array("a".utf8))
        #expect(try compose("public.plain-text", [0xEF, 0xBB, 0xBF, 0x61])?.content == Array("a".utf8))
        let page = try #require(
            try compose("public.html", [0xFF, 0xFE] + "<p>é".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }))
        #expect(String(decoding: page.content, as: UTF8.self).contains("<p>é</p>"))
    }

    @Test("Attachments are shown, words marked and removals counted")
    func html() throws {
        let preview = try #require(
            try compose(
                "public.html", Array("<p>ferry<script>x</script><img src=cid:a><img src=cid:b>".utf8),
                attachments: [("a", "public.png", Pictures.png()), ("b", "public.png", Array("no".utf8))],
                query: "ferry"))
        let html = String(decoding: preview.content, as: UTF8.self)
        #expect(html.contains("<p><mark>ferry</mark><img src=\"data:image/png;base64,iVBOR"))
        #expect(preview.removals.map(\.kind) == [.script, .unusablePicture, .mistypedAttachment])
    }

    @Test("Nothing is composed after a cancellation")
    func cancelled() throws {
        let bytes = Array(String(repeating: "<p>x", count: 10_000).utf8)
        let header = PreviewHeader(contentType: "public.html", title: nil)
        #expect(try PreviewComposer(query: nil).preview(header, bytes: bytes, title: "") { true } == nil)
    }
}
