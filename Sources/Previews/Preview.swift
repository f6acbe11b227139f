// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// What a person is shown of an item.
public struct Preview: Hashable, Sendable {
    /// Who rendered it.
    public enum Source: String, Hashable, Sendable, Codable {
        /// The app's extension.
        case `extension`
        /// Searchlight, from the item's attributes.
        case attributes
    }

    /// The title to show above it.
    public var title: String
    /// The uniform type identifier of the content.
    public var contentType: String
    /// The content.
    public var content: [UInt8]
    /// Who rendered it.
    public var source: Source
    /// Why the extension did not render it, if it should have.
    public var problem: String?
    /// The size it is made for, if its extension said one.
    public var size: PreviewHeader.Size?
    /// What was taken out of what the extension rendered.
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

    /// The largest preview that is taken from an extension, in bytes.
    public static let maximumBytes = 32 << 20

    /// The types an extension may answer with.
    public static let contentTypes: Set<String> = [
        "public.html", "public.plain-text", "public.utf8-plain-text", "public.rtf", "public.png", "public.jpeg",
        "com.adobe.pdf",
    ]
}
