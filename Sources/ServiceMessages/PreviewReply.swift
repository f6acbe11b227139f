// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord

/// A rendered preview from a worker or a delegate.
public struct PreviewReply: Sendable {
    /// The type, title, size and attachments.
    public var header: PreviewHeader
    /// The content, followed by the bytes of the attachments in order.
    public var content: Payload

    /// Creates a reply.
    public init(_ header: PreviewHeader, content: Payload) {
        self.header = header
        self.content = content
    }

    /// The arguments of the reply. Each attachment has three strings: identifier, type and length.
    public var arguments: [BusValue] {
        [.string(header.contentType), .string(text: header.title ?? "")] + content.arguments + [
            .double(header.size?.width ?? 0), .double(header.size?.height ?? 0),
            .strings(header.attachments.flatMap { [$0.identifier, $0.contentType, String($0.length)] }),
        ]
    }

    /// Reads a reply from the arguments of an answer.
    ///
    /// - Throws: ``BusError/malformed(_:)``, including if a limit is exceeded.
    public init(_ arguments: inout BusArguments) throws(BusError) {
        header = PreviewHeader(contentType: try arguments.string(), title: try arguments.string().nonEmpty)
        content = try Payload(&arguments)
        header.size = PreviewHeader.Size(width: try arguments.double(), height: try arguments.double())
        let texts = try arguments.strings()
        guard texts.count.isMultiple(of: 3), texts.count <= 3 * PreviewHeader.maximumAttachments else {
            throw .malformed("a preview has attachments of \(texts.count) texts")
        }
        var names: Set<String> = []
        var rest = min(content.length, UInt64(PreviewHeader.maximumBytes))
        for start in stride(from: 0, to: texts.count, by: 3) {
            guard PreviewHeader.isIdentifier(texts[start]), names.insert(texts[start]).inserted,
                PreviewHeader.isContentType(texts[start + 1]), let length = UInt64(texts[start + 2]), length <= rest
            else { throw .malformed("attachment \(start / 3) of a preview is malformed") }
            rest -= length
            header.attachments.append(
                PreviewHeader.Attachment(identifier: texts[start], contentType: texts[start + 1], length: Int(length)))
        }
    }
}
