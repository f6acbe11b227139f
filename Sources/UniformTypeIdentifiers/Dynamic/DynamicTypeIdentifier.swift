// SPDX-License-Identifier: Apache-2.0

/// What a dynamic identifier (`dyn.…`) says: the tags of something that has no declared type, and the type it was asked
/// to conform to.
///
/// The identifier is the whole truth about a dynamic type, so it can be read back on any machine. The form is described
/// in uniform-types.md §8: base 32 with an alphabet of its own over `?0=parent:class=tag:…`.
public struct DynamicTypeIdentifier: Hashable, Sendable {
    /// One tag of a dynamic type.
    public struct Tag: Hashable, Sendable {
        /// The class; one of the five that have a digit in dynamic identifiers.
        public let tagClass: UTTagClass
        /// The text, with the case it had when the type was made (extensions are lowercase).
        public let value: String

        /// Makes a tag; see ``DynamicTypeIdentifier/init(parent:tags:)`` for what is refused.
        public init(tagClass: UTTagClass, value: String) {
            self.tagClass = tagClass
            self.value = value
        }
    }

    /// The identifier of the type it conforms to, or `nil` when it conforms to nothing.
    public let parent: String?
    /// The tags, at least one.
    public let tags: [Tag]

    /// The most bytes the decoded form may have: longer than any file name or MIME type, short enough to be harmless.
    public static let maximumDecodedBytes = 4096

    /// Makes the identifier of something that has tags but no declared type.
    ///
    /// - Parameters:
    ///   - parent: The identifier of the type to conform to, or `nil`.
    ///   - tags: One tag or more.
    /// - Returns: `nil` without a tag, for a class that dynamic identifiers cannot express, for a parent that is no
    ///   identifier, for control characters (but NULs at the end of a four-character code), and when it becomes too long.
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

    /// Reads a dynamic identifier.
    ///
    /// - Returns: `nil` for what is malformed: characters outside of the alphabet, bits left over, bytes that are no
    ///   UTF-8, an unknown class, no tag, or what ``init(parent:tags:)`` refuses. Case does not matter.
    public init?(_ identifier: String) {
        guard let bytes = DynamicTypeIdentifier.decodeBase32(identifier) else { return nil }
        self.init(decodedForm: bytes)
    }

    /// The identifier, `dyn.a…`.
    public var identifier: String { DynamicTypeIdentifier.encodeBase32(decodedForm) }
}

extension DynamicTypeIdentifier: CustomStringConvertible {
    /// The text inside of the identifier, for instance `?0=6:1=sql`.
    public var description: String { decodedForm }
}
