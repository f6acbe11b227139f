// SPDX-License-Identifier: Apache-2.0

/// The properties in IPTC records (Information Interchange Model 4.2).
enum IPTCReader {
    private static let maximumRecords = 2000

    /// Reads the properties into a content; existing values are kept.
    static func read(_ bytes: [UInt8], into content: inout PictureContent) {
        var (offset, count) = (0, 0)
        var texts: [Int: [String]] = [:]
        while offset + 5 <= bytes.count, bytes[offset] == 0x1C, count < maximumRecords {
            count += 1
            let (record, field) = (Int(bytes[offset + 1]), Int(bytes[offset + 2]))
            // The first bit means that the length has further bytes, which no program uses here.
            guard let length = bytes.number(at: offset + 3, bytes: 2), length < 0x8000 else { break }
            let end = min(offset + 5 + length, bytes.count)
            if record == 2, let text = MetadataText.text(bytes[offset + 5..<end]) {
                texts[field, default: []].append(text)
            }
            offset = end
        }
        func first(_ field: Int) -> String? { texts[field]?.first }
        content.title = content.title ?? first(5)
        content.headline = content.headline ?? first(105)
        content.description = content.description ?? first(120)
        content.instructions = content.instructions ?? first(40)
        content.copyright = content.copyright ?? first(116)
        content.location.place = content.location.place ?? first(92)
        content.location.city = content.location.city ?? first(90)
        content.location.state = content.location.state ?? first(95)
        content.location.country = content.location.country ?? first(101)
        if content.keywords.isEmpty { content.keywords = (texts[25] ?? []).prefix(200).compactMap(MetadataText.entry) }
        if content.authors.isEmpty { content.authors = (texts[80] ?? []).prefix(100).compactMap(MetadataText.entry) }
    }

    /// Returns the IPTC records in the resources that Photoshop writes, each with `8BIM`, a number,
    /// a name and a length.
    static func records(inPhotoshopResources bytes: [UInt8]) -> [UInt8]? {
        var offset = 0
        while bytes.count - offset >= 12, bytes[offset..<offset + 4].elementsEqual("8BIM".utf8) {
            guard let number = bytes.number(at: offset + 4, bytes: 2) else { return nil }
            // The name has a length byte, and both together are padded to an even size.
            let nameSize = (Int(bytes[offset + 6]) + 2) & ~1
            guard let length = bytes.number(at: offset + 6 + nameSize, bytes: 4) else { return nil }
            let start = offset + 10 + nameSize
            guard length <= bytes.count - start else { return nil }
            if number == 0x0404 { return Array(bytes[start..<start + length]) }
            offset = start + ((length + 1) & ~1)
        }
        return nil
    }
}
