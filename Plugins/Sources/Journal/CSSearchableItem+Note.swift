// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import JournalNotes

extension Note {
    /// The types in which a note's item promises data, in addition to its file's types.
    static let dataTypes = [UTType.html.identifier, UTType.utf8PlainText.identifier]

    /// Returns `dataTypes` with the most useful type first. For a plain-text note, plain text comes
    /// first, because its HTML page only wraps the text.
    static func dataTypes(_ contentType: String) -> [String] {
        contentType == UTType.plainText.identifier ? dataTypes.reversed() : dataTypes
    }

    /// Returns the types in which a note is delivered as a file copy: its own type, or HTML.
    static func fileTypes(_ contentType: String) -> [String] { [contentType, UTType.html.identifier] }
}

extension FileItem {
    init(_ note: Note) {
        self.init(CSSearchableItem(note), size: note.text.utf8.count)
        remarks = note.remarks
        if note.missing > 0 { limitations.append("indexed in part") }
        if note.reading != .utf8 { limitations.append("not in UTF-8") }
    }
}

extension CSSearchableItem {
    /// Creates the item for a note. The item never expires; it is deleted when the note's file is
    /// deleted.
    convenience init(_ note: Note) {
        let attributes = CSSearchableItemAttributeSet()
        attributes.contentType = note.contentType
        attributes.title = note.title
        attributes.displayName = note.title
        attributes.contentDescription = note.summary
        attributes.textContent = note.text
        attributes.setProperties(note.properties)
        let names = (note.properties.texts(.aliases) + note.fileNames).filter { $0 != note.title }
        if !names.isEmpty { attributes.alternateNames = names }
        if let folder = note.folderName { attributes.containerTitle = folder }
        attributes.identifier = note.identifier
        attributes.contentURL = URL(filePath: note.identifier, directoryHint: .notDirectory)
        attributes.contentCreationDate = note.created
        attributes.contentModificationDate = note.modified
        // The attribute's unit is megabytes.
        attributes.fileSize = NSNumber(value: Double(note.fileSize) / 1_000_000)
        attributes.setMissingText(note.missing)
        attributes.providerDataTypeIdentifiers = Note.dataTypes(note.contentType)
        attributes.providerFileTypeIdentifiers = Note.fileTypes(note.contentType)
        attributes.providerInPlaceFileTypeIdentifiers = [note.contentType]
        self.init(uniqueIdentifier: note.identifier, domainIdentifier: note.domain, attributeSet: attributes)
        expirationDate = .distantFuture
    }
}

extension CSSearchableItemAttributeSet {
    /// The key of the custom attribute that holds the text of all properties for which there is no
    /// searchable attribute.
    static let propertiesKey = "journal_properties"

    /// Sets the properties that the note has. The others remain unset, because an attribute that is
    /// set to `nil` is also sent to the host.
    fileprivate func setProperties(_ properties: NoteProperties) {
        if properties.isEmpty { return }
        let lists: [(NoteField, ReferenceWritableKeyPath<CSSearchableItemAttributeSet, [String]?>)] = [
            (.authors, \.authorNames), (.authorAddresses, \.authorEmailAddresses), (.contributors, \.contributors),
            (.editors, \.editors), (.publishers, \.publishers), (.organizations, \.organizations),
            (.projects, \.projects), (.participants, \.participants), (.audiences, \.audiences),
            (.languages, \.languages),
        ]
        for (field, attribute) in lists {
            let texts = properties.texts(field)
            if !texts.isEmpty { self[keyPath: attribute] = texts }
        }
        let lines: [(NoteField, ReferenceWritableKeyPath<CSSearchableItemAttributeSet, String?>)] = [
            (.creator, \.creator), (.copyright, \.copyright), (.rights, \.rights), (.version, \.version),
            (.subject, \.subject), (.headline, \.headline), (.genre, \.genre), (.comment, \.comment),
            (.place, \.namedLocation), (.address, \.fullyFormattedAddress), (.city, \.city),
            (.region, \.stateOrProvince), (.country, \.country), (.postalCode, \.postalCode),
        ]
        for (field, attribute) in lines {
            guard let text = properties.text(field) else { continue }
            self[keyPath: attribute] = text.summary(maximumCharacters: NoteProperties.maximumLine)
        }
        let dates: [(NoteField, ReferenceWritableKeyPath<CSSearchableItemAttributeSet, Date?>)] = [
            (.due, \.dueDate), (.start, \.startDate), (.end, \.endDate), (.completed, \.completionDate),
            (.added, \.addedDate),
        ]
        for (field, attribute) in dates { if let date = properties.date(field) { self[keyPath: attribute] = date } }
        if !properties.tags.isEmpty { keywords = properties.tags }
        if let url = properties.url { self.url = url }
        if let rating = properties.number(.rating) { self.rating = NSNumber(value: rating) }
        if let coordinates = properties.coordinates {
            latitude = NSNumber(value: coordinates.latitude)
            longitude = NSNumber(value: coordinates.longitude)
        }
        setCustomProperties(properties)
    }

    /// Stores each property that has no attribute under its own key, for queries, and the texts of
    /// all of them under `propertiesKey`, for searches.
    private func setCustomProperties(_ properties: NoteProperties) {
        for property in properties.custom {
            let values = property.values.prefix(NoteProperties.maximumCustom).map(Self.custom)
            let key = CSCustomAttributeKey(
                keyName: "journal_" + property.name, searchable: true, searchableByDefault: false, unique: false,
                multiValued: values.count > 1)
            guard let key, key.keyName != Self.propertiesKey else { continue }
            setValue(values.count == 1 ? values[0] : values as NSArray, forCustomKey: key)
        }
        let key = CSCustomAttributeKey(
            keyName: Self.propertiesKey, searchable: true, searchableByDefault: true, unique: false, multiValued: false)
        if let key, !properties.text.isEmpty { setValue(properties.text as NSString, forCustomKey: key) }
    }

    private static func custom(_ value: FrontMatterValue) -> any NSSecureCoding {
        switch value {
        case .text(let text): text.summary(maximumCharacters: NoteProperties.maximumLine) as NSString
        case .integer(let number, _): NSNumber(value: number)
        case .real(let number, let source): number.isFinite ? NSNumber(value: number) : source as NSString
        case .flag(let flag, _): NSNumber(value: flag)
        }
    }
}
