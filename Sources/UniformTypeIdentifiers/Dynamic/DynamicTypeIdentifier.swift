// SPDX-License-Identifier: Apache-2.0

/// The content of a dynamic identifier (`dyn.…`): the tags of something without a declared type,
/// and the type that it should conform to.
///
/// The identifier contains all information about the dynamic type, so any machine can decode it. It
/// encodes `?0=parent:class=tag:…` in base 32 with a custom alphabet.
public struct DynamicTypeIdentifier: Hashable, Sendable {
    /// A tag of a dynamic type.
    public struct Tag: Hashable, Sendable {
        /// The class: one of the five classes that have a digit in dynamic identifiers.
        public let tagClass: UTTagClass
        /// The text in its original case, except that extensions are lowercase.
        public let value: String

        /// Creates a tag. ``DynamicTypeIdentifier/init(parent:tags:)`` checks it.
        public init(tagClass: UTTagClass, value: String) {
            self.tagClass = tagClass
            self.value = value
        }
    }

    /// The identifier of the supertype; `nil` if the type conforms to nothing.
    public let parent: String?
    /// The tags, at least one.
    public let tags: [Tag]

    /// The maximum length of the decoded form, in bytes. It exceeds any file name or MIME type.
    public static let maximumDecodedBytes = 4096

    /// Creates the identifier for something that has tags but no declared type.
    ///
    /// - Parameters:
    ///   - parent: The identifier of the supertype, or `nil`.
    ///   - tags: One or more tags.
    /// - Returns: `nil` for an empty list of tags, an invalid parent, control characters, an
    ///   identifier that is too long, or a class that dynamic identifiers cannot express. A
    ///   four-character code may end in NUL characters.
    public init?(parent: String?, tags: [Tag]) {
        guard !tags.isEmpty else { return nil }
        if let parent, !TypeIdentifier.isWellFormed(parent) { return nil }
        var kept: [Tag] = []
        for tag in tags {
            guard let key = tag.tagClass.key, key != .deviceModelCode, TypeIdentifier.isTagText(tag.value, key) else {
                return nil
            }
            let value = key == .filenameExtension ? tag.value.lowercased() : tag.value
            kept.append(Tag(tagClass: UTTagClass(key), value: value))
        }
        self.parent = parent.map(TypeIdentifier.lowercased)
        self.tags = kept
        guard decodedForm.utf8.count <= DynamicTypeIdentifier.maximumDecodedBytes else { return nil }
    }

    /// Decodes a dynamic identifier, in any case.
    ///
    /// - Returns: `nil` for an invalid identifier: characters outside the alphabet, surplus bits,
    ///   invalid UTF-8, an unknown class, no tags, or content that ``init(parent:tags:)`` rejects.
    public init?(_ identifier: String) {
        guard let bytes = DynamicTypeIdentifier.decodeBase32(identifier) else { return nil }
        self.init(decodedForm: bytes)
    }

    /// The identifier, `dyn.a…`.
    public var identifier: String { DynamicTypeIdentifier.encodeBase32(decodedForm) }
}

extension DynamicTypeIdentifier: CustomStringConvertible {
    /// The decoded text of the identifier, such as `?0=6:1=sql`.
    public var description: String { decodedForm }
}
