// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

extension UnreadFile {
    /// Sets the attributes that every file has, regardless of its contents: its names, URL, dates
    /// and size. Keeps an earlier creation date from the contents.
    package func setFileAttributes(_ attributes: CSSearchableItemAttributeSet, contentType: String) {
        attributes.contentType = contentType
        attributes.alternateNames = [fileName]
        attributes.containerTitle = path.split(separator: "/").dropLast().last.map(String.init)
        attributes.identifier = path
        attributes.contentURL = URL(filePath: path, directoryHint: .notDirectory)
        attributes.path = path
        if attributes.contentCreationDate == nil { attributes.contentCreationDate = file.birth ?? file.modified }
        attributes.contentModificationDate = file.modified
        // The attribute's unit is megabytes.
        attributes.fileSize = NSNumber(value: Double(file.size) / 1_000_000)
    }

    /// Returns the item for the file. It never expires; it is deleted when the file is deleted.
    package func item(_ attributes: CSSearchableItemAttributeSet) -> CSSearchableItem {
        let item = CSSearchableItem(uniqueIdentifier: path, domainIdentifier: domain, attributeSet: attributes)
        item.expirationDate = .distantFuture
        return item
    }

    /// The names of the directories, joined with dots; nil in a configured folder itself. Dots in
    /// names become underscores, since dots separate the parts of a domain.
    private var domain: String? {
        if directories.isEmpty { return nil }
        return directories.map { String($0.map { $0 == "." ? "_" : $0 }) }.joined(separator: ".")
    }
}
