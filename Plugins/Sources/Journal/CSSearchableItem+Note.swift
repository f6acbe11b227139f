// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import JournalNotes

extension Note {
    /// What a note can be had as, besides its own file.
    static let dataTypes = [UTType.html.identifier, UTType.utf8PlainText.identifier]

    /// The same, what says most first: as a page a plain note is only its text in a frame.
    static func dataTypes(_ contentType: String) -> [String] {
        contentType == UTType.plainText.identifier ? dataTypes.reversed() : dataTypes
    }

    /// As what a note can be had in a file of the receiver's: as it is, or as a page.
    static func fileTypes(_ contentType: String) -> [String] { [contentType, UTType.html.identifier] }
}

extension CSSearchableItem {
    /// The item of a note. It never expires: a note is gone when its file is.
    convenience init(_ note: Note) {
        let attributes = CSSearchableItemAttributeSet()
        attributes.contentType = note.contentType
        attributes.title = note.title
        attributes.displayName = note.title
        attributes.contentDescription = note.summary
        attributes.textContent = note.text
        attributes.keywords = note.keywords.isEmpty ? nil : note.keywords
        attributes.identifier = note.identifier
        attributes.contentURL = URL(filePath: note.identifier, directoryHint: .notDirectory)
        attributes.contentCreationDate = note.created
        attributes.contentModificationDate = note.modified
        // The attribute is in megabytes.
        attributes.fileSize = NSNumber(value: Double(note.fileSize) / 1_000_000)
        attributes.providerDataTypeIdentifiers = Note.dataTypes(note.contentType)
        attributes.providerFileTypeIdentifiers = Note.fileTypes(note.contentType)
        attributes.providerInPlaceFileTypeIdentifiers = [note.contentType]
        self.init(uniqueIdentifier: note.identifier, domainIdentifier: note.domain, attributeSet: attributes)
        expirationDate = .distantFuture
    }
}
