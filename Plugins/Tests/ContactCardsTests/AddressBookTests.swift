// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import ContactCards

/// The databases of Evolution's address books.
@Suite("Address books")
final class AddressBookTests {
    private let folder: String

    init() throws {
        folder = FileManager.default.temporaryDirectory.path + "/book-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: folder + "/system", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private var path: String { folder + "/system/contacts.db" }

    private func list() throws -> CardList { try CardList(#require(try CardFile(contentsOf: path))) }

    @Test(arguments: ["book", "book-log"]) func cardsAreRead(_ kind: String) throws {
        try SamplePeople.run([kind, path])
        #expect(FileManager.default.fileExists(atPath: path + "-wal") == (kind == "book-log"))
        let entries = try list().entries
        #expect(entries.map(\.card.name) == ["Ada Lovelace", "Charles Babbage", "Marie Curie", "Alan Turing"])
        #expect(entries.first?.key == "uid:pas-id-0")
        #expect(try CardFile(contentsOf: path)?.bookName(cardCount: 4) == "Personal")
    }

    @Test func readingChangesNoFile() throws {
        try SamplePeople.run(["book-log", path])
        func state() throws -> [String: Data] {
            let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/system")
            return try Dictionary(
                uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: folder + "/system/" + $0))) })
        }
        let before = try state()
        _ = try list()
        #expect(try state() == before)
    }

    @Test func aDatabaseThatIsBeingWrittenIsReadLater() throws {
        try SamplePeople.run(["book", path])
        try Data("journal".utf8).write(to: URL(filePath: path + "-journal"))
        #expect(throws: SkipReason.system(errno: EAGAIN)) { try list() }
    }

    /// 2,000 cards of 3,000 bytes that all refer to the pages of the first card.
    @Test func cardsThatShareTheirPagesAreNotRead() throws {
        try SamplePeople.run(["shared-book", path])
        #expect(throws: SkipReason.unusable("not an address book of Evolution, or damaged")) { try list() }
    }

    @Test func otherAndDamagedDatabasesAreNamed() throws {
        try Data("SQLite format 3\0".utf8).write(to: URL(filePath: path))
        #expect(throws: SkipReason.unusable("not an address book of Evolution, or damaged")) { try list() }
        try FileManager.default.removeItem(atPath: path)
        try SamplePeople.run(["book", path])
        let bytes = try Data(contentsOf: URL(filePath: path))
        for seed in 0..<300 as Range<UInt64> {
            var mutation = Mutation(SeededGenerator(seed: seed), pieces: ["\0\0", "CREATE VIEW", "\u{FF}"])
            try Data(mutation.mutated(Array(bytes))).write(to: URL(filePath: path))
            do { #expect(try list().entries.count <= 8) } catch { #expect(error is SkipReason) }
        }
    }
}
