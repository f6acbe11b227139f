// SPDX-License-Identifier: Apache-2.0

import Foundation
internal import ItemRecord
internal import SearchlightExtension
internal import ServiceMessages
import UniformTypeIdentifiers

/// A preview as it is handed to the host.
struct RenderedPreview: Equatable {
    /// The largest preview, in bytes, attachments included. As much as the host takes: sending more would be in vain.
    static let maximumBytes = 32 << 20

    let contentType: String
    /// `nil` for the title of the item.
    let title: String?
    let data: Data
    /// In points; zero for the viewer's own.
    let size: CGSize
    /// What HTML refers to.
    let attachments: [Attachment]

    /// A part of the preview that its HTML refers to as `cid:IDENTIFIER`.
    struct Attachment: Equatable {
        let identifier: String
        let contentType: String
        let data: Data
    }

    /// Runs the reply's closure, or reads its file.
    ///
    /// - Throws: ``HostFailure``, or what the closure throws.
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
        // Read after the closure, which may have set it.
        title = reply.title.isEmpty ? nil : reply.title
        self.data = data
    }

    private static let textTypes: Set = ["public.html", "public.plain-text", "public.utf8-plain-text"]

    /// The types that a host shows.
    private static let shownTypes = textTypes.union(["public.rtf", "public.png", "public.jpeg", "com.adobe.pdf"])

    private static func check(_ count: Int) throws(HostFailure) {
        guard count <= maximumBytes else {
            throw HostFailure(
                SEARCHLIGHT_TOO_LARGE, "The preview has \(count) bytes, and the limit is \(maximumBytes). Show less.")
        }
    }

    private static func read(_ url: URL) throws -> (String, Data) {
        let type = UTType(filenameExtension: url.pathExtension)?.identifier ?? "public.data"
        guard url.isFileURL, shownTypes.contains(type) else {
            throw HostFailure(
                SEARCHLIGHT_FAILED,
                "The preview file \(url.lastPathComponent) is of type \(type), and what can be shown is "
                    + shownTypes.sorted().joined(separator: ", ") + ".")
        }
        let size = try FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)[.size]
        try check((size as? NSNumber)?.intValue ?? 0)
        return (type, try Data(contentsOf: url))
    }

    /// The text in UTF-8, which is what the host takes; as it is, if it is not in the encoding it is said to be.
    private static func unicode(_ data: Data, from encoding: String.Encoding) -> Data {
        guard encoding != .utf8, let text = String(data: data, encoding: encoding) else { return data }
        return Data(text.utf8)
    }

    /// The attachments as the host takes them. Its identifiers are plain, and the keys of an extension may be anything: what
    /// has another key gets an identifier of its own, in the HTML too.
    private static func attach(
        _ attachments: [String: QLPreviewReplyAttachment], to html: Data
    ) throws(HostFailure) -> (Data, [Attachment]) {
        guard attachments.count <= PreviewHeader.maximumAttachments else {
            throw HostFailure(
                SEARCHLIGHT_TOO_LARGE,
                "The preview has \(attachments.count) attachments, and the limit is \(PreviewHeader.maximumAttachments)."
            )
        }
        var html = html
        var result: [Attachment] = []
        // Longer keys first, since one key may begin with another.
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
