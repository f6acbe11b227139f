// SPDX-License-Identifier: Apache-2.0
import ContentLines
import Foundation

/// A contact: the content of a vCard in version 2.1, 3.0 or 4.0.
package struct Card: Sendable, Equatable {
    package enum Limits {
        /// The maximum card size in bytes; a larger card is left out.
        package static let size = 12 << 20
        static let lines = 4_000
        /// The maximum number of values for one property.
        static let values = 100
        /// The maximum size of one value, in bytes.
        static let value = 64 << 10
        /// The maximum picture size, in bytes.
        package static let picture = 4 << 20
    }

    /// A part of a card that is missing, in a few words.
    package enum Problem: String, Sendable, Equatable {
        case tooManyLines = "some lines are left out, because there are more than 4000 or a line is too long"
        case tooManyValues = "some values are left out, because there are more than 100 of a kind"
        case longValue = "a value is cut after 65536 bytes"
        case pictureUnreadable = "its picture cannot be decoded"
        case noEnd = "its END line is missing"
    }

    /// A value with its kinds, such as `home` or `cell`.
    package struct Labelled: Sendable, Equatable {
        package var value: String
        /// The user's label, or the kinds; nil without any.
        package var label: String?
        package var types: Set<String>
    }

    package struct Address: Sendable, Equatable {
        package var street = ""
        package var city = ""
        package var region = ""
        package var postalCode = ""
        package var country = ""
        /// The post office box and other parts.
        package var further = ""
        package var label: String?

        /// The parts in one line.
        package var line: String {
            let place = [postalCode, city].filter { !$0.isEmpty }.joined(separator: " ")
            return [further, street, place, region, country].filter { !$0.isEmpty }.joined(separator: ", ")
        }
    }

    package struct Picture: Sendable, Equatable {
        package var bytes: [UInt8]
        /// The uniform type, determined by the first bytes.
        package var contentType: String
    }

    package enum Kind: Sendable, Equatable { case person, organisation, group }

    package var identifier: String?
    package var kind = Kind.person
    /// The formatted name, or else the name parts, the organisation or an address.
    package var name = ""
    package var givenName = ""
    package var familyName = ""
    package var nicknames: [String] = []
    package var phoneticNames: [String] = []
    package var organisations: [String] = []
    package var titles: [String] = []
    package var emailAddresses: [Labelled] = []
    package var phoneNumbers: [Labelled] = []
    package var addresses: [Address] = []
    package var messengers: [Labelled] = []
    package var urls: [Labelled] = []
    package var birthday: CardDate?
    package var anniversary: CardDate?
    package var notes: [String] = []
    package var categories: [String] = []
    /// The names of related people, with the relation as the label.
    package var related: [Labelled] = []
    package var memberCount = 0
    package var position: (latitude: Double, longitude: Double)?
    package var revised: Date?
    package var picture: Picture?
    package var problems: [Problem] = []

    package static func == (one: Card, other: Card) -> Bool {
        one.identifier == other.identifier && one.plainText == other.plainText && one.picture == other.picture
            && one.problems == other.problems
    }
}

/// A date on a card, which may lack the year.
package struct CardDate: Sendable, Equatable {
    package var year: Int?
    package var month: Int
    package var day: Int

    /// Parses `1815-12-10`, `18151210`, `--12-10`, `--1210` or a date with a time; nil for other
    /// texts. Apple writes the year 1604 for a date without a year.
    package init?(_ text: String, omittedYear: String? = nil) {
        let digits = text.utf8.prefix { $0 != UInt8(ascii: "T") && $0 != 0x20 }
        let isYearMissing = digits.starts(with: "--".utf8)
        let numbers = digits.filter { (0x30...0x39).contains($0) }.map { Int($0 - 0x30) }
        guard digits.count <= 12, digits.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }),
            numbers.count == (isYearMissing ? 4 : 8)
        else { return nil }
        let rest = numbers.suffix(4).map { $0 }
        (month, day) = (rest[0] * 10 + rest[1], rest[2] * 10 + rest[3])
        guard (1...12).contains(month), (1...31).contains(day) else { return nil }
        if isYearMissing { return }
        let year = numbers.prefix(4).reduce(0) { $0 * 10 + $1 }
        if let omittedYear, Int(omittedYear) == year { return }
        if year != 1604, year > 0 { self.year = year }
    }

    /// The date as `1815-12-10` or `12-10`.
    package var text: String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let rest = two(month) + "-" + two(day)
        return year.map { String(repeating: "0", count: max(0, 4 - "\($0)".count)) + "\($0)-" + rest } ?? rest
    }

    /// The date in words, such as `10 December 1815` or `9 December`.
    package func text(in locale: Locale) -> String {
        let style = Date.FormatStyle(locale: locale, timeZone: .gmt).day().month(.wide)
        // The date without a year may be 29 February.
        var leap = self
        leap.year = year ?? 2000
        return leap.date?.formatted(year == nil ? style : style.year()) ?? text
    }

    /// Noon UTC on the date, which is the same day in most time zones; nil without a year.
    package var date: Date? {
        guard let year else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar.date(from: DateComponents(year: year, month: month, day: day, hour: 12))
    }
}
