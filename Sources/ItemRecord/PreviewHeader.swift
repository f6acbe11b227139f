// SPDX-License-Identifier: Apache-2.0

/// Describes a preview that an extension rendered: its type, title, size and the lengths of its
/// attachments. The content itself is stored separately.
///
/// ```swift
/// let header = PreviewHeader(contentType: "public.html", title: "Oslo")
/// let (page, _) = header.parts(of: bytes)
/// ```
public struct PreviewHeader: Hashable, Sendable {
    /// The type of the content, for example `public.html`.
    public var contentType: String
    /// The title to show above the content; `nil` if the extension provided none.
    public var title: String?
    /// The intended display size.
    public var size: Size?
    /// The parts that the content refers to.
    public var attachments: [Attachment]

    /// A size in points.
    public struct Size: Hashable, Sendable {
        /// The width.
        public var width: Double
        /// The height.
        public var height: Double

        /// Creates a size; `nil` unless both numbers are positive and finite.
        public init?(width: Double, height: Double) {
            guard width.isFinite, height.isFinite, width > 0, height > 0 else { return nil }
            (self.width, self.height) = (width, height)
        }
    }

    /// A part of the preview, to which its HTML refers as `cid:IDENTIFIER`.
    public struct Attachment: Hashable, Sendable {
        /// The identifier: letters, digits, `-`, `.` and `_`; at most
        /// ``PreviewHeader/maximumIdentifierBytes``.
        public var identifier: String
        /// The uniform type identifier of the part.
        public var contentType: String
        /// The length of the part, in bytes. Attachments follow the content.
        public var length: Int

        /// Creates an attachment.
        public init(identifier: String, contentType: String, length: Int) {
            self.identifier = identifier
            self.contentType = contentType
            self.length = length
        }
    }

    /// The largest number of attachments.
    public static let maximumAttachments = 256
    /// The largest size of a preview with all its attachments, in bytes.
    public static let maximumBytes = 32 << 20
    /// The longest identifier of an attachment, in bytes.
    public static let maximumIdentifierBytes = 255

    /// Creates a header.
    public init(contentType: String, title: String?, size: Size? = nil, attachments: [Attachment] = []) {
        self.contentType = contentType
        self.title = title
        self.size = size
        self.attachments = attachments
    }

    /// Returns `true` if a name is a valid attachment identifier.
    public static func isIdentifier(_ name: String) -> Bool {
        (1...maximumIdentifierBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { isAlphanumeric($0) || isDash($0) || $0 == UInt8(ascii: "_") }
    }

    /// Returns `true` if a text has the form of a uniform type identifier.
    public static func isContentType(_ name: String) -> Bool {
        (1...maximumIdentifierBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { isAlphanumeric($0) || isDash($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }

    private static func isDash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") }

    /// Returns the content and the bytes of each attachment, in order.
    ///
    /// - Parameter bytes: The content followed by the bytes of all attachments. Their length has
    ///   already been checked.
    public func parts(of bytes: [UInt8]) -> (content: ArraySlice<UInt8>, attachments: [ArraySlice<UInt8>]) {
        var position = max(0, bytes.count - attachments.reduce(0) { $0 + $1.length })
        let content = bytes[..<position]
        var parts: [ArraySlice<UInt8>] = []
        for attachment in attachments {
            let end = min(bytes.count, position + attachment.length)
            parts.append(bytes[position..<end])
            position = end
        }
        return (content, parts)
    }
}
