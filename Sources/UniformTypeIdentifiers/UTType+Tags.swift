// SPDX-License-Identifier: Apache-2.0

extension UTType {
    /// Creates the type for files with a filename extension, given without the dot and in any case.
    ///
    /// - Parameters:
    ///   - filenameExtension: The extension. An empty extension has its own dynamic type.
    ///   - supertype: A type to which the result must conform; data by default, so directories need
    ///     `.package` or `.directory`.
    /// - Returns: A dynamic type if no declared type matches; `nil` for control characters or an
    ///   excessive length.
    public init?(filenameExtension: String, conformingTo supertype: UTType = .data) {
        self.init(tag: filenameExtension, tagClass: .filenameExtension, conformingTo: supertype)
    }

    /// Creates the type for a MIME type, in any case.
    ///
    /// - Parameters:
    ///   - mimeType: The MIME type. Its parameters, if any, are included in the comparison.
    ///   - supertype: A type to which the result must conform; data by default.
    /// - Returns: A dynamic type if no declared type matches; `nil` for an empty or invalid text.
    public init?(mimeType: String, conformingTo supertype: UTType = .data) {
        self.init(tag: mimeType, tagClass: .mimeType, conformingTo: supertype)
    }

    /// Creates the best type for a tag.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - tagClass: The class of the tag.
    ///   - supertype: A type to which the result must conform; `nil` for any type.
    /// - Returns: A dynamic type if no declared type matches; `nil` for an invalid tag or an
    ///   unknown class.
    public init?(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) {
        let snapshot = UTTypeRegistry.currentSnapshot
        guard let type = snapshot.types(tag: tag, tagClass: tagClass, conformingTo: supertype).first else { return nil }
        self = type
    }

    /// Returns all types for a tag, best first.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - tagClass: The class of the tag.
    ///   - supertype: A type to which the results must conform; `nil` for any type.
    /// - Returns: One dynamic type if no declared type matches; empty for an invalid tag or an
    ///   unknown class.
    public static func types(tag: String, tagClass: UTTagClass, conformingTo supertype: UTType?) -> [UTType] {
        UTTypeRegistry.currentSnapshot.types(tag: tag, tagClass: tagClass, conformingTo: supertype)
    }

    /// The tags of the type by class, preferred tags first. Classes without tags have no entry.
    /// Tags are not inherited.
    public var tags: [UTTagClass: [String]] { UTTypeRegistry.currentSnapshot.tags(of: self) }

    /// The first filename extension of the type, without the dot.
    public var preferredFilenameExtension: String? {
        UTTypeRegistry.currentSnapshot.preferredTag(of: self, .filenameExtension)
    }

    /// The first MIME type of the type.
    public var preferredMIMEType: String? { UTTypeRegistry.currentSnapshot.preferredTag(of: self, .mimeType) }
}
