// SPDX-License-Identifier: Apache-2.0
import Foundation
import Previews
import TestSupport
import Testing

@Suite("The pictures of an HTML preview")
struct InlineAttachmentsTests {
    private static let picture = InlineAttachments.Attachment(
        identifier: "a.b-1", mediaType: "image/png", bytes: [1, 2, 3])
    private static let address = "data:image/png;base64,AQID"

    private func inline(
        _ html: String, _ attachments: [InlineAttachments.Attachment] = [picture], limit: Int = Preview.maximumBytes
    ) -> (String, Int) {
        let (bytes, omitted) = InlineAttachments.applied(to: Array(html.utf8)[...], attachments, limit: limit)
        return (String(decoding: bytes, as: UTF8.self), omitted)
    }

    @Test("are put in wherever the HTML refers to them")
    func references() {
        let html = inline("<img src=\"cid:a.b-1\"><img src=CID:a.b-1><p>cid:a.b-12 cid: cid:a cid:a.b-1")
        #expect(
            html.0 == "<img src=\"\(Self.address)\"><img src=\(Self.address)><p>cid:a.b-12 cid: cid:a \(Self.address)")
        #expect(html.1 == 0)
    }

    @Test(
        "are pictures: what else is attached stays out",
        arguments: ["text/html", "image/", "image/png\"><script>", "", "image/x y"])
    func kinds(mediaType: String) {
        let other = InlineAttachments.Attachment(identifier: "a.b-1", mediaType: mediaType, bytes: [1])
        #expect(inline("cid:a.b-1", [other]).0 == "cid:a.b-1")
    }

    @Test("stay out where there is no room, however often they are referred to")
    func bounds() {
        let html = String(repeating: "cid:a.b-1 ", count: 100)
        for limit in [0, 1000, 1500, 2000, 2700, 5000] {
            let (result, omitted) = inline(html, limit: limit)
            #expect(result.utf8.count <= max(limit, html.utf8.count))
            #expect(result.components(separatedBy: Self.address).count - 1 == 100 - omitted)
        }
        #expect(inline(html, limit: 2700).1 == 0)
    }

    @Test("are encoded as everybody decodes it")
    func encoding() throws {
        var random = SplitMix64(seed: 3)
        for count in 0..<40 {
            let bytes = (0..<count).map { _ in UInt8(random.below(256)) }
            let attachment = InlineAttachments.Attachment(identifier: "x", mediaType: "image/gif", bytes: bytes[...])
            let html = inline("cid:x", [attachment]).0
            #expect(html == "data:image/gif;base64,\(Data(bytes).base64EncodedString())")
        }
    }
}
