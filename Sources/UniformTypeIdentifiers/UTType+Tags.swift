// SPDX-License-Identifier: Apache-2.0

extension UTType {
    /// The type of files with a filename extension, given without the dot, in any case.
    ///
    /// - Parameters:
    ///   - filenameExtension: The extension. An empty one has a dynamic type of its own.
    ///   - supertype: What the type must conform to; data by default, so directories need `.package` or `.directory`.
    /// - Returns: A dynamic type when no declared type fits; `nil` for control characters or an overlong text.
    public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
        self.init(tag: filenameExtension, tagClass: .filenameExtension, conformingTo: supertype)
    }

    /// The type of a MIME type, in any case.
    ///
    /// - Parameters:
    ///   - mimeType: The MIME type, with its parameters if it has some: they are compared like the rest.
    ///   - supertype: What the type must conform to; data by default.
    /// - Returns: A dynamic type when no declared type fits; `nil` for an empty or malformed text.
    public init?(mimeType: String, conformingTo supertype: UTType = .data) {
        self.init(tag: mimeType, tagClass: .mimeType, conformingTo: supertype)
    }

    /// The best type for a tag.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - tagClass: Its class.
    ///   - supertype: What the type must conform to; anything if `nil`.
    /// - Returns: A dynamic type when no declared type fits; `nil` for a malformed tag or an unknown class.
    public init?(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) {
        let snapshot = UTTypeRegistry.currentSnapshot
        guard let type = snapshot.types(tag: tag, tagClass: tagClass, conformingTo: supertype).first else { return nil }
        self = type
    }

    /// All types for a tag, best first.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - tagClass: Its class.
    ///   - supertype: What the types must conform to; anything if `nil`.
    /// - Returns: One dynamic type when no declared type fits; nothing for a malformed tag or an unknown class.
    public static func types(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) -> [UTType] {
        UTTypeRegistry.currentSnapshot.types(tag: tag, tagClass: tagClass, conformingTo: supertype)
    }

    /// The tags of the type by class, preferred first. A class without tags has no entry. Tags are not inherited.
    public var tags: [UTTagClass: [String]] { UTTypeRegistry.currentSnapshot.tags(of: self) }

    /// The first filename extension of the type, without the dot.
    public var preferredFilenameExtension: String? {
        UTTypeRegistry.currentSnapshot.preferredTag(of: self, .filenameExtension)
    }

    /// The first MIME type of the type.
    public var preferredMIMEType: String? { UTTypeRegistry.currentSnapshot.preferredTag(of: self, .mimeType) }
}
