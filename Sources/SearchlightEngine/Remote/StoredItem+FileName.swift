// SPDX-License-Identifier: Apache-2.0
import Previews
import Promises
import SearchIndex
import UniformTypeIdentifiers

extension StoredItem {
    /// Returns the name for a file with a representation of the item: the name of the item's own
    /// file if that file has the type; otherwise the title, with the type's filename extension.
    ///
    /// - Parameter type: The uniform type identifier of the representation; `nil` if unknown.
    package func fileName(as type: String?) -> FileName {
        if let type, type == contentType, let own = record.contentPath?.split(separator: "/").last {
            let ending = own.lastIndex(of: ".").flatMap { $0 == own.startIndex ? nil : own[own.index(after: $0)...] }
            return FileName(title: String(own), fileExtension: ending.map(String.init))
        }
        return FileName(
            title: record.text("displayName") ?? displayTitle,
            fileExtension: type.flatMap { UTType($0) }.flatMap(Self.fileExtension))
    }

    /// Returns the filename extension of a type, or of its nearest supertype that has one. UTF-8
    /// text uses the extension of plain text.
    private static func fileExtension(of type: UTType) -> String? {
        if let own = type.preferredFilenameExtension { return own }
        return type.supertypes.filter { $0.preferredFilenameExtension != nil }
            .max { ($0.supertypes.count, $0.identifier) < ($1.supertypes.count, $1.identifier) }?
            .preferredFilenameExtension
    }
}
