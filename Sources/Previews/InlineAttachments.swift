// SPDX-License-Identifier: Apache-2.0

/// Puts pictures into an HTML preview where it refers to them as `cid:IDENTIFIER`, so that one document holds everything.
public enum InlineAttachments {
    /// A part that a preview may refer to.
    public struct Attachment: Sendable {
        /// What the HTML calls it.
        public var identifier: String
        /// Its media type, such as `image/png`.
        public var mediaType: String
        /// Its bytes.
        public var bytes: ArraySlice<UInt8>

        /// Creates an attachment.
        public init(identifier: String, mediaType: String, bytes: ArraySlice<UInt8>) {
            self.identifier = identifier
            self.mediaType = mediaType
            self.bytes = bytes
        }
    }

    private static let scheme = Array("cid:".utf8)

    /// The HTML with each reference replaced by a `data:` URL.
    ///
    /// Only images are put in: the policy lets nothing else be shown, and a link to other data would lead to content of the
    /// extension's that bears no policy. A reference to anything else stays, and leads nowhere.
    ///
    /// - Parameters:
    ///   - html: UTF-8.
    ///   - attachments: The parts.
    ///   - limit: The most bytes of the result; what would go beyond is not put in.
    /// - Returns: The HTML, and how many references there was no room for.
    public static func applied(
        to html: ArraySlice<UInt8>, _ attachments: [Attachment], limit: Int = Preview.maximumBytes
    ) -> (html: [UInt8], omitted: Int) {
        var images: [[UInt8]: Attachment] = [:]
        for attachment in attachments where isImage(attachment.mediaType) {
            images[Array(attachment.identifier.utf8)] = attachment
        }
        guard !images.isEmpty else { return (Array(html), 0) }
        var result: [UInt8] = []
        result.reserveCapacity(html.count)
        var omitted = 0
        var position = html.startIndex
        while position < html.endIndex {
            guard isReference(html[position...]) else {
                result.append(html[position])
                position += 1
                continue
            }
            let start = position + scheme.count
            let name = html[start...].prefix(while: isIdentifierByte)
            if let image = images[Array(name)] {
                let prefix = "data:\(image.mediaType);base64,".utf8
                let rest = html.endIndex - name.endIndex
                if result.count + prefix.count + base64Count(image.bytes.count) + rest <= limit {
                    result += prefix
                    appendBase64(image.bytes, to: &result)
                    position = name.endIndex
                    continue
                }
                omitted += 1
            }
            result += html[position..<name.endIndex]
            position = name.endIndex
        }
        return (result, omitted)
    }

    private static func isReference(_ bytes: ArraySlice<UInt8>) -> Bool {
        // A letter with this bit set is its lower case; nothing else becomes a letter or a colon by it.
        guard let first = bytes.first, first | 0x20 == scheme[0], bytes.count >= scheme.count else { return false }
        return zip(bytes, scheme).allSatisfy { $0 == $1 || ($0 | 0x20 == $1 && $1 != UInt8(ascii: ":")) }
    }

    private static func isIdentifierByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether a media type is that of an image and may stand in an attribute as it is: manifests declare types, too.
    private static func isImage(_ mediaType: String) -> Bool {
        let kind = "image/"
        return mediaType.hasPrefix(kind) && (kind.utf8.count + 1...127).contains(mediaType.utf8.count)
            && mediaType.utf8.dropFirst(kind.utf8.count).allSatisfy { isIdentifierByte($0) || $0 == UInt8(ascii: "+") }
    }

    // MARK: Base 64 (RFC 4648, section 4)

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func base64Count(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    private static func appendBase64(_ bytes: ArraySlice<UInt8>, to result: inout [UInt8]) {
        var rest = bytes
        while !rest.isEmpty {
            let group = Array(rest.prefix(3))
            let bits = (0..<3).reduce(UInt32(0)) { $0 << 8 | UInt32($1 < group.count ? group[$1] : 0) }
            for place in 0...group.count { result.append(digits[Int(bits >> UInt32(18 - 6 * place) & 63)]) }
            for _ in group.count..<3 { result.append(UInt8(ascii: "=")) }
            rest = rest.dropFirst(3)
        }
    }
}
