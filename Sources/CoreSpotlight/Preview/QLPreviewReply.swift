// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// A preview: data of a displayable type, or a file of a displayable type.
///
/// The displayable types are HTML, plain text, rich text, PNG, JPEG and PDF.
open class QLPreviewReply: NSObject {
    enum Content {
        case file(URL)
        case data(UTType, (QLPreviewReply) throws -> Data)
    }

    let content: Content
    /// The size in points; zero for the viewer's default.
    let contentSize: CGSize

    /// The encoding of text; UTF-8 by default.
    open var stringEncoding: String.Encoding = .utf8
    /// The attachments of the HTML, which refers to the attachment with the key `k` as `cid:k`.
    open var attachments: [String: QLPreviewReplyAttachment] = [:]
    /// The preview's title; empty for the item's title.
    open var title = ""

    /// Creates a preview whose data a closure creates on demand.
    ///
    /// Do expensive work in the closure. It receives the reply, and can set the reply's other
    /// properties.
    ///
    /// - Parameter contentSize: The size in points; zero for the viewer's default.
    public init(
        dataOfContentType contentType: UTType, contentSize: CGSize,
        createDataUsing closure: @escaping (QLPreviewReply) throws -> Data
    ) {
        content = .data(contentType, closure)
        self.contentSize = contentSize
    }

    /// Creates a preview from the content of a file.
    public init(fileURL: URL) {
        content = .file(fileURL)
        contentSize = .zero
    }
}

/// A resource that a preview's HTML refers to, such as an image.
open class QLPreviewReplyAttachment: NSObject {
    /// The data of the attachment.
    public let data: Data
    /// The content type of the attachment.
    public let contentType: UTType

    /// Creates an attachment from data and its type.
    public init(data: Data, contentType: UTType) {
        self.data = data
        self.contentType = contentType
    }
}
