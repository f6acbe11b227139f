// SPDX-License-Identifier: Apache-2.0
import ContentLines
import FileReading
import Foundation

/// A file with cards that is open but not read yet: a vCard file, or an address book database from
/// Evolution or GNOME Contacts.
package struct CardFile: ServedFile {
    package enum Kind: Sendable, Equatable { case vCard, database }

    /// The maximum vCard file size in bytes; only the beginning of a larger file is read.
    package static let maximumSize = 96 << 20
    /// The maximum number of cards in a file.
    package static let maximumCards = 200_000

    package var path: String
    package var directories: [String]
    package var kind: Kind
    package var file: OpenedFile

    package static func kind(fileName: String) -> Kind? {
        if fileName == "contacts.db" { return .database }
        let name = fileName.lowercased()
        return name.hasSuffix(".vcf") || name.hasSuffix(".vcard") ? .vCard : nil
    }

    package init(_ file: OpenedFile, kind: Kind, path: String, directories: [String]) {
        self.path = path
        self.directories = directories
        self.kind = kind
        self.file = file
    }

    /// Opens a file at any path; nil if its name is not the name of a card file.
    package init?(contentsOf path: String) throws(SkipReason) {
        let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map { String(Substring($0)) } ?? ""
        guard let kind = Self.kind(fileName: name) else { return nil }
        let file = try OpenedFile(in: nil, name: path, followingLinks: true, opener: .system)
        self.init(file, kind: kind, path: path, directories: [])
    }

    /// Returns the name of the address book: the file name, or the folder's name for a file with
    /// one card.
    package func bookName(cardCount: Int) -> String {
        let names = path.split(separator: "/").map(String.init)
        let folder = names.count > 1 ? names[names.count - 2] : ""
        if kind == .database { return folder == "system" ? "Personal" : folder }
        guard cardCount != 1, let name = names.last, let dot = name.lastIndex(of: ".") else { return folder }
        return String(name[..<dot])
    }
}

/// The cards in a file, found but not read yet.
package struct CardList: Sendable {
    package struct Entry: Sendable {
        /// The key, which is unique in the file.
        package var key: String
        /// The bytes of the card.
        package var bytes: ArraySlice<UInt8>
        package var isComplete: Bool

        package var isTooLarge: Bool { bytes.count > Card.Limits.size }
        /// The card as a separate file.
        package var exported: [UInt8] {
            isComplete ? Array(bytes) : Array(bytes) + Array("\r\nEND:VCARD\r\n".utf8)
        }
        /// The card, which must not be too large.
        package var card: Card { Card(bytes, isComplete: isComplete) }
    }

    package var entries: [Entry] = []
    /// The reason why cards in the file are missing; nil if none are missing.
    package var leftOut: String?

    /// Reads the cards in a file.
    package init(_ file: CardFile) throws(SkipReason) {
        switch file.kind {
        case .vCard:
            let bytes = try file.file.readAll(limit: CardFile.maximumSize)
            self.init(ContentEncoding.utf8(bytes)[...])
            if file.file.size > Int64(CardFile.maximumSize) {
                leftOut = "larger than \(CardFile.maximumSize) bytes; the cards at its end were left out"
                if entries.last?.isComplete == false { entries.removeLast() }
            } else if entries.isEmpty, !bytes.isEmpty {
                leftOut = "it has no vCard"
            }
        case .database:
            self.init([][...])
            let book = try AddressBook(file)
            let cards = try book.cards(limit: CardFile.maximumCards)
            for card in cards { add(card.vCard[...], identifier: card.identifier, isComplete: true) }
            if cards.count == CardFile.maximumCards { leftOut = Self.tooMany }
        }
    }

    /// Finds the cards in the bytes of a vCard file.
    package init(_ bytes: ArraySlice<UInt8>) {
        for component in ComponentScanner(bytes, isWanted: { $0 == "VCARD" }) {
            guard entries.count < CardFile.maximumCards else {
                leftOut = Self.tooMany
                break
            }
            let card = bytes[component.range]
            let identifier = card.count > Card.Limits.size ? nil : Card.identifier(of: card)
            add(card, identifier: identifier, isComplete: component.isComplete)
        }
    }

    private static let tooMany = "more than \(CardFile.maximumCards) cards; the rest was left out"
    private var keys = UniqueKeys()

    private mutating func add(_ bytes: ArraySlice<UInt8>, identifier: String?, isComplete: Bool) {
        let key = ContentKey.key(identifier: identifier, content: bytes)
        entries.append(Entry(key: keys.unique(key), bytes: bytes, isComplete: isComplete))
    }
}
