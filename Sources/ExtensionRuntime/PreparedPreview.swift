// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ItemRecord
import SearchlightExtension
import ServiceMessages

/// The error for an invalid preview.
struct PreviewProblem: Error {
    let status: ExtensionStatus
    let message: String
}

/// A preview that was copied from an extension's memory, within the limits.
struct PreparedPreview: Sendable {
    var contentType: String
    var title: String?
    var size: PreviewHeader.Size?
    var content: [UInt8]
    var attachments: [PreviewHeader.Attachment] = []
    /// The bytes of all attachments, concatenated.
    var attachmentBytes: [UInt8] = []

    /// Creates a preview without attachments.
    init(contentType: String, title: String?, content: [UInt8]) {
        self.contentType = contentType
        self.title = title
        self.content = content
    }

    /// Copies a reply and everything that it points to.
    ///
    /// - Throws: ``PreviewProblem`` if the reply exceeds a limit or is invalid.
    init(
        _ pointer: UnsafePointer<searchlight_preview_reply>?, _ session: HostSession
    ) throws(PreviewProblem) {
        guard let pointer, Int(pointer.pointee.size) >= MemoryLayout<searchlight_preview_reply>.size else {
            throw .invalid("the extension gave no preview, or one whose size is too small")
        }
        let reply = pointer.pointee
        guard let contentType = text(reply.content_type) else {
            throw .invalid("the extension gave no content type for its preview")
        }
        // The host checks the form, and names the type that it cannot show.
        guard contentType.utf8.count <= PreviewHeader.maximumIdentifierBytes else {
            throw .invalid(
                "the content type of the preview has more than \(PreviewHeader.maximumIdentifierBytes) bytes")
        }
        self.contentType = contentType
        // Cut, since the title is sent in the message, unlike the content.
        title = message(reply.title, "The title of a preview", session)
        size = PreviewHeader.Size(width: reply.width, height: reply.height)
        content = try Self.bytes(reply.bytes, reply.length, "the preview", taken: 0)
        guard reply.attachment_count <= PreviewHeader.maximumAttachments else {
            throw PreviewProblem(
                status: .tooLarge,
                message: "the preview has \(reply.attachment_count) attachments; the limit is "
                    + "\(PreviewHeader.maximumAttachments)")
        }
        for index in 0..<Int(reply.attachment_count) {
            guard let attachment = reply.attachments?[index] else {
                throw .invalid("attachment \(index) of the preview is at no address")
            }
            try append(attachment.pointee, index)
        }
    }

    private mutating func append(_ attachment: searchlight_attachment, _ index: Int) throws(PreviewProblem) {
        guard Int(attachment.size) >= MemoryLayout<searchlight_attachment>.size else {
            throw .invalid("attachment \(index) of the preview has a size that is too small")
        }
        guard let identifier = text(attachment.identifier), PreviewHeader.isIdentifier(identifier) else {
            throw .invalid(
                "attachment \(index) of the preview has no identifier of letters, digits, '-', '.' and '_' with at most "
                    + "\(PreviewHeader.maximumIdentifierBytes) bytes")
        }
        guard !attachments.contains(where: { $0.identifier == identifier }) else {
            throw .invalid("two attachments of the preview are named \(identifier)")
        }
        guard let type = text(attachment.content_type), PreviewHeader.isContentType(type) else {
            throw .invalid("the attachment \(identifier) of the preview has no content type")
        }
        let bytes = try Self.bytes(
            attachment.bytes, attachment.length, "the attachment \(identifier)",
            taken: content.count + attachmentBytes.count)
        attachments.append(.init(identifier: identifier, contentType: type, length: bytes.count))
        attachmentBytes += bytes
    }

    private static func bytes(
        _ pointer: UnsafeRawPointer?, _ length: Int, _ what: String, taken: Int
    ) throws(PreviewProblem) -> [UInt8] {
        guard length >= 0, pointer != nil || length == 0 else {
            throw .invalid("\(what) has \(UInt(bitPattern: length)) bytes at no address")
        }
        guard length <= PreviewHeader.maximumBytes - taken else {
            throw PreviewProblem(
                status: .tooLarge,
                message:
                    "\(what) has \(length) bytes; the limit is \(PreviewHeader.maximumBytes) for a preview with all "
                    + "its attachments")
        }
        return Array(UnsafeRawBufferPointer(start: pointer, count: length))
    }

    /// Returns the reply as a message.
    ///
    /// - Throws: ``BusError/system(operation:code:)``.
    func reply() throws(BusError) -> PreviewReply {
        PreviewReply(
            PreviewHeader(contentType: contentType, title: title, size: size, attachments: attachments),
            content: try .sending(content + attachmentBytes))
    }
}

extension PreviewProblem {
    fileprivate static func invalid(_ message: String) -> PreviewProblem {
        PreviewProblem(status: .invalidArgument, message: message)
    }
}
