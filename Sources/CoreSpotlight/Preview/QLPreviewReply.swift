// SPDX-License-Identifier: Apache-2.0

import Foundation
import UniformTypeIdentifiers

/// A preview: data in a type that can be shown, or a file that holds it.
///
/// HTML, plain text, rich text, PNG, JPEG and PDF are shown.
open class QLPreviewReply: NSObject {
    enum Content {
        case file(URL)
        case data(UTType, (QLPreviewReply) throws -> Data)
    }

    let content: Content
    /// In points; zero for the viewer's own.
    let contentSize: CGSize

    /// How texts are encoded; UTF-8 unless set.
    open var stringEncoding: String.Encoding = .utf8
    /// What the HTML refers to: the attachment with key `k` as `cid:k`.
    open var attachments: [String: QLPreviewReplyAttachment] = [:]
    /// The title of the preview; empty for that of the item.
    open var title = ""

    /// A preview that a closure makes when it is to be shown; heavy work belongs there, and it may still set the other
    /// properties of the reply, which it is handed.
    ///
    /// - Parameter contentSize: In points; zero for the viewer's own.
    public init(
        dataOfContentType contentType: UTType, contentSize: CGSize,
        createDataUsing closure: @escaping (QLPreviewReply) throws -> Data
    ) {
        content = .data(contentType, closure)
        self.contentSize = contentSize
    }

    /// A preview that is the content of a file.
    public init(fileURL: URL) {
        content = .file(fileURL)
        contentSize = .zero
    }
}

/// Something that the HTML of a preview refers to, such as a picture.
open class QLPreviewReplyAttachment: NSObject {
    /// The bytes.
    public let data: Data
    /// What the bytes are.
    public let contentType: UTType

    /// An attachment from its bytes and their type.
    public init(data: Data, contentType: UTType) {
        self.data = data
        self.contentType = contentType
    }
}
