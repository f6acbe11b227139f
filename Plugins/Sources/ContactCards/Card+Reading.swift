// SPDX-License-Identifier: Apache-2.0
import ContentLines
import FileReading
import Foundation

extension Card {
    /// Reads a card. Accepts any bytes: lines that cannot be read are left out.
    package init(_ bytes: ArraySlice<UInt8>, isComplete: Bool = true) {
        self.init()
        var reader = CardReader()
        let isRead = ContentLineReader.readLines(of: bytes, limit: Limits.lines) { reader.read($0) }
        self = reader.finished()
        if !isRead { problems.append(.tooManyLines) }
        if !isComplete { problems.append(.noEnd) }
    }

    /// Returns the UID of a card without reading the rest; nil if there is none.
    package static func identifier(of bytes: ArraySlice<UInt8>) -> String? {
        var found: String?
        _ = ContentLineReader.readLines(of: bytes, limit: Limits.lines) { line in
            if found == nil, line.name == "UID" { found = line.text.trimmed }
        }
        return found.flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Collects the lines of a card.
private struct CardReader {
    private var card = Card()
    private var formattedName = ""
    private var structuredName = ""
    /// The groups of values whose label is in a separate line (`item1.X-ABLabel`).
    private var labels: [String: String] = [:]
    private var labelled: [(group: String, list: WritableKeyPath<Card, [Card.Labelled]>, index: Int)] = []
    private var hasPreferred: Set<String> = []

    mutating func read(_ line: ContentLine) {
        switch line.name {
        case "FN": if formattedName.isEmpty { formattedName = text(line) }
        case "N": readName(line)
        case "NICKNAME", "X-NICKNAME": add(line.texts(), to: \.nicknames)
        case "X-PHONETIC-FIRST-NAME", "X-PHONETIC-LAST-NAME", "SORT-STRING", "X-ADDRESSBOOKSERVER-PHONETIC-NAME":
            add([line.text], to: \.phoneticNames)
        case "ORG":
            add(
                [
                    line.texts(separator: UInt8(ascii: ";")).map(\.trimmed).filter { !$0.isEmpty }.joined(
                        separator: ", ")
                ], to: \.organisations)
        case "TITLE", "ROLE": add([line.text], to: \.titles)
        case "EMAIL": add(line, to: \.emailAddresses, value: withoutScheme(text(line), "mailto:"))
        case "TEL": add(line, to: \.phoneNumbers, value: withoutScheme(text(line), "tel:"))
        case "ADR": readAddress(line)
        case "IMPP": add(line, to: \.messengers, value: text(line))
        case "X-AIM", "X-ICQ", "X-JABBER", "X-MSN", "X-SKYPE", "X-YAHOO", "X-GADUGADU", "X-SIP", "X-MATRIX",
            "X-TELEGRAM", "X-TWITTER":
            let kind = line.name.dropFirst(2).lowercased()
            add(line, to: \.messengers, value: kind + ":" + withoutScheme(text(line), kind + ":"))
        case "URL", "X-SOCIALPROFILE", "SOCIALPROFILE": add(line, to: \.urls, value: text(line))
        case "BDAY": card.birthday = card.birthday ?? date(line)
        case "ANNIVERSARY", "X-ANNIVERSARY", "X-EVOLUTION-ANNIVERSARY":
            card.anniversary = card.anniversary ?? date(line)
        case "NOTE": add([line.text], to: \.notes)
        case "CATEGORIES": add(line.texts(), to: \.categories)
        case "RELATED", "X-ABRELATEDNAMES", "AGENT", "X-SPOUSE", "X-MANAGER", "X-ASSISTANT", "X-EVOLUTION-SPOUSE",
            "X-EVOLUTION-MANAGER", "X-EVOLUTION-ASSISTANT", "X-KADDRESSBOOK-X-SPOUSESNAME":
            readRelated(line)
        case "UID": if card.identifier == nil { card.identifier = text(line).isEmpty ? nil : text(line) }
        case "REV": card.revised = Self.instant(text(line)) ?? card.revised
        case "KIND", "X-ADDRESSBOOKSERVER-KIND": readKind(text(line))
        case "X-ABSHOWAS": if text(line).uppercased() == "COMPANY" { card.kind = .organisation }
        case "X-EVOLUTION-LIST": if text(line).uppercased() == "TRUE" { card.kind = .group }
        case "MEMBER", "X-ADDRESSBOOKSERVER-MEMBER": card.memberCount += 1
        case "GEO": card.position = card.position ?? Self.position(text(line))
        case "PHOTO": readPicture(line, isLogo: false)
        case "LOGO": readPicture(line, isLogo: true)
        case "X-ABLABEL": if let group = line.group { labels[group] = Self.plainLabel(text(line)) }
        default: break
        }
    }

    /// Returns the card with its labels and a name.
    mutating func finished() -> Card {
        for (group, list, index) in labelled {
            if let label = labels[group] { card[keyPath: list][index].label = label }
        }
        let names = [
            formattedName, structuredName, card.organisations.first ?? "", card.nicknames.first ?? "",
            card.emailAddresses.first?.value ?? "", card.phoneNumbers.first?.value ?? "",
        ]
        card.name = names.first { !$0.isEmpty } ?? ""
        if card.kind == .person, formattedName.isEmpty || formattedName == card.organisations.first,
            structuredName.isEmpty, !card.organisations.isEmpty
        {
            card.kind = .organisation
        }
        return card
    }

    // MARK: Properties

    private mutating func readName(_ line: ContentLine) {
        guard structuredName.isEmpty else { return }
        let parts = line.texts(separator: UInt8(ascii: ";"), limit: 16).map {
            cut($0.trimmed.replacing(",", with: " "))
        }
        func part(_ index: Int) -> String { index < parts.count ? parts[index] : "" }
        (card.familyName, card.givenName) = (part(0), part(1))
        structuredName = [part(3), part(1), part(2), part(0), part(4)].filter { !$0.isEmpty }.joined(separator: " ")
    }

    private mutating func readAddress(_ line: ContentLine) {
        let parts = line.texts(separator: UInt8(ascii: ";"), limit: 16).map {
            cut($0.split(whereSeparator: \.isNewline).joined(separator: ", ").trimmed)
        }
        func part(_ index: Int) -> String { index < parts.count ? parts[index] : "" }
        let further = [part(0), part(1)].filter { !$0.isEmpty }.joined(separator: ", ")
        let address = Card.Address(
            street: part(2), city: part(3), region: part(4), postalCode: part(5), country: part(6), further: further,
            label: Self.label(line))
        guard !address.line.isEmpty else { return }
        guard card.addresses.count < Card.Limits.values else { return report(.tooManyValues) }
        card.addresses.append(address)
    }

    private mutating func readRelated(_ line: ContentLine) {
        var value = text(line)
        guard !value.isEmpty, !value.lowercased().hasPrefix("urn:") else { return }
        value = value.split(whereSeparator: \.isNewline).first.map(String.init) ?? value
        if line.name.hasPrefix("X-"), line.name != "X-ABRELATEDNAMES", !value.hasPrefix("BEGIN:") {
            let relation = line.name.split(separator: "-").last?.lowercased().replacing("sname", with: "") ?? ""
            guard card.related.count < Card.Limits.values else { return report(.tooManyValues) }
            card.related.append(Card.Labelled(value: value, label: relation, types: []))
        } else {
            add(line, to: \.related, value: value)
        }
    }

    private mutating func readKind(_ value: String) {
        switch value.lowercased() {
        case "group": card.kind = .group
        case "org", "organization": card.kind = .organisation
        default: break
        }
    }

    private mutating func readPicture(_ line: ContentLine, isLogo: Bool) {
        if card.picture != nil { return }
        let value = line.value
        if let comma = Self.dataURL(value) {
            return decodePicture(value[(comma + 1)...])
        }
        if line.isBase64 { decodePicture(value) }
    }

    /// Returns the index of the comma after `data:image/png;base64`.
    private static func dataURL(_ value: ArraySlice<UInt8>) -> Int? {
        guard let comma = value.prefix(200).firstIndex(of: UInt8(ascii: ",")) else { return nil }
        let head = String(decoding: value[..<comma], as: UTF8.self).lowercased()
        return head.hasPrefix("data:") && head.hasSuffix(";base64") ? comma : nil
    }

    private mutating func decodePicture(_ value: ArraySlice<UInt8>) {
        guard let bytes = ContentText.base64(value, limit: Card.Limits.picture), let type = PictureType.of(bytes) else {
            return report(.pictureUnreadable)
        }
        card.picture = Card.Picture(bytes: bytes, contentType: type)
    }

    // MARK: Values

    private mutating func text(_ line: ContentLine) -> String { cut(line.text.trimmed) }

    private mutating func cut(_ text: String) -> String {
        guard text.utf8.count > Card.Limits.value else { return text }
        report(.longValue)
        return text.prefix(maximumUTF8Bytes: Card.Limits.value)
    }

    private mutating func report(_ problem: Card.Problem) {
        if !card.problems.contains(problem) { card.problems.append(problem) }
    }

    private mutating func add(_ values: [String], to list: WritableKeyPath<Card, [String]>) {
        for value in values.map(\.trimmed) where !value.isEmpty && !card[keyPath: list].contains(value) {
            guard card[keyPath: list].count < Card.Limits.values else { return report(.tooManyValues) }
            card[keyPath: list].append(cut(value))
        }
    }

    /// Adds a line's value. A preferred value comes first.
    private mutating func add(_ line: ContentLine, to list: WritableKeyPath<Card, [Card.Labelled]>, value: String) {
        guard !value.isEmpty, !card[keyPath: list].contains(where: { $0.value == value }) else { return }
        guard card[keyPath: list].count < Card.Limits.values else { return report(.tooManyValues) }
        let entry = Card.Labelled(value: value, label: Self.label(line), types: line.types)
        var index = card[keyPath: list].count
        if line.isPreferred, hasPreferred.insert(line.name).inserted {
            index = 0
            for moved in labelled.indices where labelled[moved].list == list { labelled[moved].index += 1 }
        }
        card[keyPath: list].insert(entry, at: index)
        if let group = line.group { labelled.append((group, list, index)) }
    }

    private static let plainTypes: Set<String> = ["pref", "internet", "voice", "x-", "uri", "text"]

    private static func label(_ line: ContentLine) -> String? {
        let named = line.parameter("X-LABEL")
        if let named, !named.isEmpty { return named.split(whereSeparator: \.isNewline).joined(separator: ", ") }
        let types = line.types.subtracting(plainTypes).filter { !$0.hasPrefix("x-evolution") && $0.utf8.count <= 40 }
        return types.isEmpty ? nil : types.sorted().joined(separator: ", ")
    }

    /// Apple writes its own labels as `_$!<HomePage>!$_`.
    private static func plainLabel(_ text: String) -> String {
        guard text.hasPrefix("_$!<"), text.hasSuffix(">!$_"), text.utf8.count > 8 else { return text }
        return String(text.dropFirst(4).dropLast(4)).lowercased()
    }

    private func withoutScheme(_ text: String, _ scheme: String) -> String {
        text.lowercased().hasPrefix(scheme) ? String(text.dropFirst(scheme.count)) : text
    }

    private mutating func date(_ line: ContentLine) -> CardDate? {
        CardDate(text(line), omittedYear: line.parameter("X-APPLE-OMIT-YEAR"))
    }

    private static func instant(_ text: String) -> Date? {
        guard let date = CardDate(text), let day = date.date else { return nil }
        let time = text.utf8.drop { $0 != UInt8(ascii: "T") }.dropFirst().prefix {
            $0 != UInt8(ascii: "Z") && $0 != UInt8(ascii: ".")
        }
        .filter { (0x30...0x39).contains($0) }.map { Int($0 - 0x30) }
        guard time.count == 6 else { return day }
        let seconds = (time[0] * 10 + time[1]) * 3600 + (time[2] * 10 + time[3]) * 60 + time[4] * 10 + time[5]
        return day.addingTimeInterval(Double(seconds) - 43_200)
    }

    private static func position(_ text: String) -> (latitude: Double, longitude: Double)? {
        let plain = text.lowercased().hasPrefix("geo:") ? String(text.dropFirst(4)) : text
        let parts = plain.split { $0 == ";" || $0 == "," }.prefix(3).map { Double(String($0).trimmed) }
        guard parts.count >= 2, let latitude = parts[0], let longitude = parts[1], abs(latitude) <= 90,
            abs(longitude) <= 180, latitude != 0 || longitude != 0
        else { return nil }
        return (latitude, longitude)
    }
}

/// The uniform types of pictures that previews and thumbnails support, recognized by their first
/// bytes.
enum PictureType {
    static func of(_ bytes: [UInt8]) -> String? {
        func starts(_ text: [UInt8], at offset: Int = 0) -> Bool {
            bytes.count >= offset + text.count && bytes[offset..<(offset + text.count)].elementsEqual(text)
        }
        if starts([0x89, 0x50, 0x4E, 0x47]) { return "public.png" }
        if starts([0xFF, 0xD8, 0xFF]) { return "public.jpeg" }
        if starts(Array("GIF8".utf8)) { return "com.compuserve.gif" }
        if starts(Array("RIFF".utf8)), starts(Array("WEBP".utf8), at: 8) { return "org.webmproject.webp" }
        return nil
    }
}
