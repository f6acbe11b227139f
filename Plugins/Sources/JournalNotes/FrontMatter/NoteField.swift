// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// The attributes for which note properties have names, as used by Obsidian, Hugo, Jekyll, Zola,
/// Pandoc, Logseq, Zettlr and other programs.
package enum NoteField: Sendable, CaseIterable {
    case title, summary, tags, aliases, authors, authorAddresses, creator, contributors, editors, publishers,
        organizations, projects,
        participants, audiences, url, languages, rating, place, address, city, region, country, postalCode, latitude,
        longitude,
        coordinates, created, modified, due, start, end, completed, added, copyright, rights, version, subject,
        headline, genre, comment

    /// Creates the field for a key, ignoring case, spaces and punctuation. For a nested key, the
    /// last part is used if the outer parts are containers that site generators use.
    package init?(key: String) {
        let parts = key.split(separator: ".")
        guard let last = parts.last else { return nil }
        let isAlone = parts.count == 1 || parts.dropLast().allSatisfy { Self.containers.contains($0.lowercased()) }
        let outer = parts.count == 2 ? Self.fields[Self.normalized(parts[0])] : nil
        switch (isAlone, outer, Self.normalized(last)) {
        case (true, _, let name):
            guard let field = Self.fields[name] else { return nil }
            self = field
        case (_, .authors, "name"), (_, .authors, "fullname"): self = .authors
        case (_, .authors, "email"), (_, .authors, "mail"): self = .authorAddresses
        case (_, .place, let name), (_, .coordinates, let name), (_, .address, let name):
            if name == "name" {
                self = .place
            } else if let field = Self.fields[name], Self.partsOfPlaces.contains(field) {
                self = field
            } else {
                return nil
            }
        default: return nil
        }
    }

    private static func normalized(_ key: some StringProtocol) -> String {
        String(
            key.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || $0.properties.numericType != nil })
    }

    private static let containers: Set<String> = [
        "params", "taxonomies", "extra", "meta", "metadata", "properties", "props",
    ]

    private static let partsOfPlaces: Set<NoteField> = [
        .address, .city, .region, .country, .postalCode, .latitude, .longitude, .coordinates,
    ]

    private static let fields: [String: NoteField] = {
        let names: [NoteField: String] = [
            .title: "title",
            .summary: "description summary abstract excerpt",
            .tags: "tags tag keywords keyword",
            .aliases: "aliases alias alternatetitle alternativetitle alternatenames othernames shorttitle linktitle",
            .authors: "author authors byline",
            .authorAddresses: "authoremail email",
            .creator: "creator",
            .contributors: "contributors contributor translator translators",
            .editors: "editors editor",
            .publishers: "publishers publisher",
            .organizations:
                "organizations organization organisations organisation company institution institute affiliation",
            .projects: "projects project",
            .participants: "participants participant attendees attendee",
            .audiences: "audiences audience",
            .url: "url link source website webpage homepage canonicalurl sourceurl uri",
            .languages: "languages language lang locale",
            .rating: "rating stars",
            .place: "location place venue",
            .address: "address",
            .city: "city town",
            .region: "state province region",
            .country: "country",
            .postalCode: "postalcode zip zipcode postcode",
            .latitude: "latitude lat",
            .longitude: "longitude lon lng long",
            .coordinates: "coordinates coords geo gps latlng latlon geolocation",
            .created:
                "created createdat createdon createdtime creationdate datecreated date published publishedat publishdate pubdate",
            .modified:
                "modified modifiedat modificationdate datemodified updated updatedat lastmod lastmodified lastupdated changed",
            .due: "due duedate dueon deadline",
            .start: "start startdate startsat starttime begin begins scheduled",
            .end: "end enddate endsat endtime ends",
            .completed: "completed completedat completedon completiondate done donedate finished",
            .added: "added addedat dateadded",
            .copyright: "copyright",
            .rights: "rights license licence",
            .version: "version",
            .subject: "subject",
            .headline: "headline subtitle",
            .genre: "genre",
            .comment: "comment",
        ]
        var fields: [String: NoteField] = [:]
        for (field, words) in names { for word in words.split(separator: " ") { fields[String(word)] = field } }
        return fields
    }()
}

extension FrontMatter {
    /// The title in the properties; nil if there is none.
    var title: String? {
        let values = entries.filter { NoteField(key: $0.key) == .title }.flatMap(\.values)
        let title = values.map(\.text).joined(separator: ", ").trimmed
        return title.isEmpty ? nil : title
    }
}

/// The properties of a note, by field.
package struct NoteProperties: Sendable, Equatable {
    /// A property for which there is no attribute.
    package struct Custom: Sendable, Equatable {
        /// The key in ASCII letters, digits and `_`.
        package var name: String
        package var values: [FrontMatterValue]
    }

    /// The maximum number of custom properties, and of values for each.
    package static let maximumCustom = 64
    /// The maximum length of an attribute's text, in characters.
    package static let maximumLine = 1000
    /// The maximum total length of all property texts, in UTF-8 bytes; longer text is cut.
    static let maximumText = FrontMatter.maximumSize * 4

    private var values: [NoteField: [FrontMatterValue]] = [:]
    private var dates: [NoteField: Date] = [:]
    package private(set) var custom: [Custom] = []
    /// The property texts that no searchable attribute contains, one per line.
    package private(set) var text = ""

    private static let lastSecondOfDay: TimeInterval = 86_399

    /// Creates the properties of a note without front matter.
    package init() {}

    package var isEmpty: Bool { values.isEmpty && custom.isEmpty && text.isEmpty }

    /// - Parameter timeZone: The time zone for dates without one.
    init(_ frontMatter: FrontMatter, timeZone: TimeZone) {
        // A key with precedence replaces another key's date; for example `created` replaces `date`.
        for entry in frontMatter.entries {
            let field = NoteField(key: entry.key)
            if let field {
                let isFirst = values[field] == nil
                values[field, default: []] += entry.values
                if isFirst || dates[field] == nil || Self.leads(entry.key, field),
                    let text = entry.values.first?.text,
                    let date = ISO8601.date(from: text, timeZone: timeZone)
                {
                    // A last day counts to its end.
                    dates[field] = field == .end && !text.contains(":") ? date + Self.lastSecondOfDay : date
                }
            } else {
                addCustom(entry)
            }
            for value in entry.values where field.map({ !isSearched($0, value) }) ?? true {
                if case .flag = value { addText(entry.key + ": " + value.text) } else { addText(value.text) }
            }
        }
        for line in frontMatter.leftovers { addText(line) }
    }

    /// Returns `true` for the creation date of the note itself, as opposed to its publication date.
    private static func leads(_ key: String, _ field: NoteField) -> Bool {
        field == .created && key.lowercased().contains("creat")
    }

    /// Returns `true` if searches find a value through its attribute, so that `text` does not have
    /// to contain it.
    private func isSearched(_ field: NoteField, _ value: FrontMatterValue) -> Bool {
        switch field {
        case .title, .summary, .tags, .aliases, .authors, .authorAddresses, .publishers, .organizations, .projects,
            .participants, .city, .region, .country,
            .place, .address, .subject, .headline, .genre, .comment:
            value.text.utf8.count <= Note.maximumTitle
        default: false
        }
    }

    private mutating func addText(_ line: String) {
        guard text.utf8.count < Self.maximumText else { return }
        text += text.isEmpty ? line : "\n" + line
    }

    private mutating func addCustom(_ entry: FrontMatter.Entry) {
        var name = ""
        for byte in entry.key.utf8 {
            let isAllowed = byte < 0x80 && (UInt8(ascii: "0")...UInt8(ascii: "z")).contains(byte)
            let character = Character(Unicode.Scalar(byte))
            if isAllowed, character.isLetter || character.isNumber {
                name.append(character)
            } else if name.last != "_" {
                name += "_"
            }
        }
        guard name.contains(where: { $0 != "_" }), custom.count < Self.maximumCustom else { return }
        if let position = custom.firstIndex(where: { $0.name == name }) {
            custom[position].values += entry.values
        } else {
            custom.append(Custom(name: name, values: entry.values))
        }
    }

    /// Returns the individual values of a field, at most 100, each cut to the length limit of a
    /// title.
    package func texts(_ field: NoteField) -> [String] {
        (values[field] ?? []).prefix(Note.maximumTags).map { $0.text.summary(maximumCharacters: Note.maximumTitle) }
    }

    /// Returns the values of a field on one line.
    package func text(_ field: NoteField) -> String? {
        let all = (values[field] ?? []).map(\.text).joined(separator: ", ").trimmed
        return all.isEmpty ? nil : all
    }

    /// Returns the first numeric value of a field.
    package func number(_ field: NoteField) -> Double? { values[field]?.lazy.compactMap(\.number).first }

    package func date(_ field: NoteField) -> Date? { dates[field] }

    /// The first value that is a web, mail or message URL.
    package var url: URL? {
        for value in values[.url] ?? [] {
            guard value.text.utf8.count <= 2048, let url = URL(string: value.text.trimmed),
                let scheme = url.scheme?.lowercased(),
                ["http", "https", "mailto", "doi", "message", "ftp"].contains(scheme)
            else { continue }
            return url
        }
        return nil
    }

    /// The coordinates in degrees; nil if one is missing or out of range.
    package var coordinates: (latitude: Double, longitude: Double)? {
        var pair = [number(.latitude), number(.longitude)].compactMap { $0 }
        for field in [NoteField.coordinates, .place] where pair.count != 2 {
            let texts = (values[field] ?? []).flatMap { $0.text.split { $0 == "," || $0.isWhitespace } }
            pair = texts.compactMap { Double($0) }
            if texts.count != 2 { pair = [] }
        }
        guard pair.count == 2, (-90...90).contains(pair[0]), (-180...180).contains(pair[1]) else { return nil }
        return (pair[0], pair[1])
    }

    /// The tags without number signs, in order and without duplicates. `a, b` and `#a #b` are two
    /// tags each, but `deep work` is one.
    package var tags: [String] {
        var seen: Set<String> = []
        let tags = (values[.tags] ?? []).flatMap { Self.tags(in: $0.text) }.filter { seen.insert($0).inserted }
        return tags.prefix(Note.maximumTags).map { $0.summary(maximumCharacters: Note.maximumTitle) }
    }

    private static func tags(in value: String) -> [String] {
        value.split(separator: ",").map(\.trimmed).flatMap { part in
            let words = part.split { $0.isWhitespace }
            return words.count > 1 && words.allSatisfy { $0.hasPrefix("#") } ? words : [part]
        }
        .map { String($0.drop { $0 == "#" }) }
        .filter { !$0.isEmpty }
    }
}
