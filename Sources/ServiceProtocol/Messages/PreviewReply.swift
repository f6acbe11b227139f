// SPDX-License-Identifier: Apache-2.0

/// What an extension shows of an item.
public struct PreviewReply: Sendable {
    /// The type of the content, e.g. `public.html`.
    public var contentType: String
    /// The title to show above it, if the extension gave one.
    public var title: String?
    /// The content, and behind it the bytes of the attachments, one after the other.
    public var content: Payload
    /// The size it is made for.
    public var size: Size?
    /// What the content refers to.
    public var attachments: [Attachment]

    /// A size in points.
    public struct Size: Hashable, Sendable {
        /// To the right.
        public var width: Double
        /// Downwards.
        public var height: Double

        /// Creates a size; `nil` unless both numbers are above 0 and finite.
        public init?(width: Double, height: Double) {
            guard width.isFinite, height.isFinite, width > 0, height > 0 else { return nil }
            (self.width, self.height) = (width, height)
        }
    }

    /// A part of the preview that its HTML refers to as `cid:IDENTIFIER`.
    public struct Attachment: Hashable, Sendable {
        /// Letters, digits, `-`, `.` and `_`; at most ``PreviewReply/maximumIdentifierBytes``.
        public var identifier: String
        /// A uniform type identifier.
        public var contentType: String
        /// How many of the bytes behind the content are its.
        public var length: Int

        /// Creates an attachment.
        public init(identifier: String, contentType: String, length: Int) {
            self.identifier = identifier
            self.contentType = contentType
            self.length = length
        }
    }

    /// The most attachments.
    public static let maximumAttachments = 256
    /// The most bytes of a preview with all its attachments.
    public static let maximumBytes = 32 << 20
    /// The longest identifier of an attachment, in bytes.
    public static let maximumIdentifierBytes = 255

    /// Creates a reply.
    ///
    /// - Parameter content: The content and the bytes of all attachments.
    public init(
        contentType: String, title: String?, content: Payload, size: Size? = nil, attachments: [Attachment] = []
    ) {
        self.contentType = contentType
        self.title = title
        self.content = content
        self.size = size
        self.attachments = attachments
    }

    /// Whether an attachment may be called so.
    public static func isIdentifier(_ name: String) -> Bool {
        (1...maximumIdentifierBytes).contains(name.utf8.count)
            && name.utf8.allSatisfy { isAlphanumeric($0) || isDash($0) || $0 == UInt8(ascii: "_") }
    }

    /// Whether a text looks like a uniform type identifier.
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

    /// The arguments that carry the reply. Each attachment is three texts: identifier, type and length.
    public var arguments: [BusValue] {
        [.string(contentType), .string(title ?? "")] + content.arguments + [
            .double(size?.width ?? 0), .double(size?.height ?? 0),
            .strings(attachments.flatMap { [$0.identifier, $0.contentType, String($0.length)] }),
        ]
    }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``, also for what is beyond a limit.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        contentType = try arguments.string()
        title = try arguments.string().nonEmpty
        content = try Payload(&arguments)
        size = Size(width: try arguments.double(), height: try arguments.double())
        attachments = []
        let texts = try arguments.strings()
        guard texts.count.isMultiple(of: 3), texts.count <= 3 * Self.maximumAttachments else {
            throw .malformed("a preview has attachments of \(texts.count) texts")
        }
        var names: Set<String> = []
        var rest = min(content.length, UInt64(Self.maximumBytes))
        for start in stride(from: 0, to: texts.count, by: 3) {
            guard Self.isIdentifier(texts[start]), names.insert(texts[start]).inserted,
                Self.isContentType(texts[start + 1]), let length = UInt64(texts[start + 2]), length <= rest
            else { throw .malformed("attachment \(start / 3) of a preview makes no sense") }
            rest -= length
            attachments.append(
                Attachment(identifier: texts[start], contentType: texts[start + 1], length: Int(length)))
        }
    }

    /// The content alone and the bytes of each attachment, in their order.
    ///
    /// - Parameter bytes: All bytes of ``content``, whose length was checked when the reply was read.
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
