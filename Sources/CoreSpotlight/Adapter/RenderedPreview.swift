// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord
internal import SearchlightExtension
internal import ServiceMessages
import UniformTypeIdentifiers

/// A preview in the form that the host accepts.
struct RenderedPreview: Equatable {
    /// The maximum size of a preview with its attachments, in bytes. It equals the host's limit.
    static let maximumBytes = 32 << 20

    let contentType: String
    /// The title; `nil` for the item's title.
    let title: String?
    let data: Data
    /// The size in points; zero for the viewer's default.
    let size: CGSize
    /// The attachments that the HTML refers to.
    let attachments: [Attachment]

    /// An attachment that the HTML refers to as `cid:IDENTIFIER`.
    struct Attachment: Equatable {
        let identifier: String
        let contentType: String
        let data: Data
    }

    /// Runs the reply's closure, or reads its file.
    ///
    /// - Throws: ``HostFailure``, or the closure's error.
    init(_ reply: QLPreviewReply) throws {
        let type: String
        var data: Data
        switch reply.content {
        case .data(let contentType, let make):
            type = contentType.identifier
            data = try make(reply)
        case .file(let url): (type, data) = try Self.read(url)
        }
        var attachments: [Attachment] = []
        if Self.textTypes.contains(type) {
            data = Self.unicode(data, from: reply.stringEncoding)
            if type == "public.html" { (data, attachments) = try Self.attach(reply.attachments, to: data) }
        }
        try Self.check(attachments.reduce(data.count) { $0 + $1.data.count })
        self.attachments = attachments
        size = reply.contentSize
        contentType = type
        // Read after the closure was called, which may have set it.
        title = reply.title.isEmpty ? nil : reply.title
        self.data = data
    }

    private static let textTypes: Set = ["public.html", "public.plain-text", "public.utf8-plain-text"]

    /// The content types that a host can show.
    private static let shownTypes = textTypes.union(["public.rtf", "public.png", "public.jpeg", "com.adobe.pdf"])

    private static func check(_ count: Int) throws(HostFailure) {
        guard count <= maximumBytes else {
            throw HostFailure(
                SEARCHLIGHT_TOO_LARGE, "The preview has \(count) bytes; the limit is \(maximumBytes). Show less.")
        }
    }

    private static func read(_ url: URL) throws -> (String, Data) {
        let type = UTType(filenameExtension: url.pathExtension)?.identifier ?? "public.data"
        guard url.isFileURL, shownTypes.contains(type) else {
            throw HostFailure(
                SEARCHLIGHT_FAILED,
                "The preview file \(url.lastPathComponent) is of type \(type). A preview must be one of "
                    + shownTypes.sorted().joined(separator: ", ") + ".")
        }
        let size = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.size]
        try check((size as? NSNumber)?.intValue ?? 0)
        return (type, try Data(contentsOf: url))
    }

    /// Converts a text to UTF-8, as the host requires. Returns the data unchanged if it is not
    /// valid in the stated encoding.
    private static func unicode(_ data: Data, from encoding: String.Encoding) -> Data {
        guard encoding != .utf8, let text = String(data: data, encoding: encoding) else { return data }
        return Data(text.utf8)
    }

    /// Converts the attachments to the host's form. The host only accepts simple identifiers, so an
    /// attachment with another key gets a generated identifier, which also replaces the key in the
    /// HTML.
    private static func attach(
        _ attachments: [String: QLPreviewReplyAttachment], to html: Data
    ) throws(HostFailure) -> (Data, [Attachment]) {
        guard attachments.count <= PreviewHeader.maximumAttachments else {
            throw HostFailure(
                SEARCHLIGHT_TOO_LARGE,
                "The preview has \(attachments.count) attachments; the limit is \(PreviewHeader.maximumAttachments)."
            )
        }
        var html = html
        var result: [Attachment] = []
        // Longer keys come first, because one key may be a prefix of another.
        for (key, attachment) in attachments.sorted(by: { ($0.key.utf8.count, $0.key) > ($1.key.utf8.count, $1.key) }) {
            var identifier = key
            if !PreviewHeader.isIdentifier(key) {
                identifier = "searchlight-attachment-\(result.count)"
                html = replacing("cid:\(key)", by: "cid:\(identifier)", in: html)
            }
            result.append(
                Attachment(
                    identifier: identifier, contentType: attachment.contentType.identifier, data: attachment.data))
        }
        return (html, result)
    }

    private static func replacing(_ old: String, by new: String, in html: Data) -> Data {
        guard let text = String(data: html, encoding: .utf8) else { return html }
        return Data(text.components(separatedBy: old).joined(separator: new).utf8)
    }
}
