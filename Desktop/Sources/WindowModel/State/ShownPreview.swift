// SPDX-License-Identifier: Apache-2.0
import Previews

/// A preview as the window displays it.
package struct ShownPreview: Hashable, Sendable {
    /// The content of a preview.
    package enum Content: Hashable, Sendable {
        /// A safe UTF-8 HTML page, and its words for a window without WebKit.
        case page([UInt8], words: [TextPiece])
        /// Text.
        case text([TextPiece])
        /// An encoded PNG or JPEG picture.
        case picture([UInt8])
    }

    /// The title.
    package var title: String
    /// The content.
    package var content: Content
    /// A note about missing or removed parts; `nil` if the preview is complete.
    package var note: String?

    package init(title: String, content: Content, note: String? = nil) {
        (self.title, self.content, self.note) = (title, content, note)
    }
}
