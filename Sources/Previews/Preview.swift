// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The displayed preview of an item.
public struct Preview: Hashable, Sendable {
    /// The renderer of the preview.
    public enum Source: String, Hashable, Sendable, Codable {
        /// The app's extension.
        case `extension`
        /// Searchlight, from the item's attributes.
        case attributes
    }

    /// The title to show above the preview.
    public var title: String
    /// The uniform type identifier of the content.
    public var contentType: String
    /// The content.
    public var content: [UInt8]
    /// The renderer.
    public var source: Source
    /// The reason why the extension did not render the item, if it should have.
    public var problem: String?
    /// The intended size, if the extension specified one.
    public var size: PreviewHeader.Size?
    /// The parts that were removed from the extension's preview.
    public var removals: [Removal]

    /// Creates a preview.
    public init(
        title: String, contentType: String, content: [UInt8], source: Source, problem: String? = nil,
        size: PreviewHeader.Size? = nil, removals: [Removal] = []
    ) {
        self.title = title
        self.size = size
        self.removals = removals
        self.contentType = contentType
        self.content = content
        self.source = source
        self.problem = problem
    }

    /// The maximum size of an extension's preview, in bytes.
    public static let maximumBytes = 32 << 20

    /// The content types that an extension may return.
    public static let contentTypes: Set<String> = [
        "public.html", "public.plain-text", "public.utf8-plain-text", "public.rtf", "public.png", "public.jpeg",
        "com.adobe.pdf",
    ]
}
