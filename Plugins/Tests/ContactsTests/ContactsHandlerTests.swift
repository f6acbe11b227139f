// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileDonations
import FileReading
import Foundation
import PluginTesting
import Synchronization
import Testing

@testable import ContactCards
@testable import Contacts

/// The Contacts handler, with an index that records calls.
@Suite("Contacts handler")
final class ContactsHandlerTests {
    private let home: String
    private let index = RecordingIndex()
    private var reports: [String] = []
    private let states = RecordStates.inMemory()

    init() throws {
        home = FileManager.default.temporaryDirectory.path + "/contacts-handler-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home + "/.contacts", withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: home) }

    private func path(_ name: String) -> String { home + "/.contacts/" + name }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    private static func card(_ name: String, _ identifier: Int, _ more: String = "") -> String {
        "BEGIN:VCARD\nVERSION:3.0\nUID:\(identifier)\nFN:\(name)\n\(more)END:VCARD\n"
    }

    private func handler(opener: FileOpener = .system) -> IndexRequestHandler {
        let variables = ["HOME": home]
        var environment = RecordRequests<CardFile>.Environment(settings: { () throws(Skip) in
            try .contacts(environment: variables, opener: opener)
        })
        environment.report = { [unowned self] in reports.append($0) }
        environment.states = states
        return IndexRequestHandler(environment)
    }

    @Test("The items of a folder or file that may not be read now are kept", arguments: ["sub", "a.vcf"])
    func itemsThatCannotBeReadNow(refused: String) throws {
        try FileManager.default.createDirectory(atPath: path("sub"), withIntermediateDirectories: true)
        try write(Self.card("Ada", 1) + Self.card("Eve", 2), to: "a.vcf")
        try write(Self.card("Ida", 3), to: "sub/b.vcf")
        reindexAll()
        let handler = handler(
            opener: FileOpener { (directory, name, flags) throws(SkipReason) in
                if name == refused { throw SkipReason.unreadable }
                return try FileOpener.system.open(directory, name, flags)
            })
        #expect(reindexAll(by: handler) == 1)
        let kept = index.recorded.items.filter(\.isUpdate).map(\.uniqueIdentifier)
        #expect(
            kept == (refused == "sub" ? ["sub/b.vcf//uid:3"] : ["a.vcf//uid:1", "a.vcf//uid:2"]).map(path), "\(reports)"
        )
        #expect(index.recorded.items.count == 6)
        handler.searchableIndex(index, reindexSearchableItemsWithIdentifiers: kept) {}
        handler.searchableIndex(
            index, updateItemsForFileChanges: ["a.vcf", "sub/b.vcf"].map { .changed(URL(filePath: path($0))) }
        ) {}
        #expect(index.recorded.kept.count == 3)
    }

    /// Requests all pages, and returns their number; nil if a page was not acknowledged.
    @discardableResult
    private func reindexAll(items: Int = 1000, by handler: IndexRequestHandler? = nil) -> Int? {
        let handler = handler ?? self.handler()
        var cursor: Data?
        for pages in 1...1000 {
            let answer = Mutex<Data??>(nil)
            handler.searchableIndex(
                index,
                reindexPage: CSReindexPage(cursor: cursor, maximumItemCount: items, maximumDuration: .seconds(600))
            ) { next in answer.withLock { $0 = .some(next) } }
            guard let next = answer.withLock({ $0 }) else { return nil }
            guard let next else { return pages }
            cursor = next
        }
        return nil
    }

    private func update(_ changes: [CSFileChange]) -> Bool {
        let isDone = Mutex(false)
        handler().searchableIndex(index, updateItemsForFileChanges: changes) { isDone.withLock { $0 = true } }
        return isDone.withLock { $0 }
    }

    private var titles: [String] { index.recorded.kept.values.compactMap(\.attributeSet.title).sorted() }

    private func url(_ name: String) -> URL { URL(filePath: path(name)) }

    @Test func cardsOfAllFilesAreDonated() throws {
        try SamplePeople("contacts").copy(to: home + "/.contacts")
        #expect(reindexAll() == 1)
        #expect(index.recorded.kept.count == 23)
        let ada = try #require(index.recorded.kept.values.first { $0.attributeSet.title == "Ada Lovelace" })
            .attributeSet
        #expect(ada.contentType == "public.vcard" && ada.emailAddresses == ["ada@example.org", "engine@example.org"])
        #expect(ada.phoneNumbers == ["+44 20 7946 0001"] && ada.supportsPhoneCall == 1 && ada.city == "London")
        #expect(ada.organizations == ["Analytical Engines Ltd, Programs"] && ada.containerTitle == "google")
        #expect(ada.textContent?.contains("lace") == true)
        let grace = try #require(index.recorded.kept.values.first { $0.attributeSet.title == "Grace Hopper" })
            .attributeSet
        #expect(
            grace.thumbnailData?.prefix(4) == Data([0x89, 0x50, 0x4E, 0x47])
                && grace.alternateNames == ["Amazing Grace"])
    }

    @Test(arguments: [
        ("+49 431 555-0777", "0777 50777 550777 5550777 15550777 315550777 4315550777 94315550777 494315550777"),
        ("0431/12345;ext=99", "2345 12345 112345 3112345 43112345 043112345"),
        ("(٠٤٣١) ٥٥", "3155 43155 043155"),
        ("112", ""), ("call me", ""), (String(repeating: "1", count: 500), ""),
    ]) func phoneNumbersAreFoundByTheirLastDigits(_ number: String, _ endings: String) throws {
        try write(Self.card("Anna", 1, "TEL:\(number.replacing(";", with: "\\;"))\n"), to: "anna.vcf")
        #expect(reindexAll() == 1)
        let attributes = try #require(index.recorded.kept.values.first).attributeSet
        #expect((attributes.contactKeywords ?? []).joined() == endings)
    }

    @Test(arguments: [1, 3, 7, 1000]) func pagesOfAnySizeDonateEachCardOnce(_ items: Int) throws {
        try write((0..<20).map { Self.card("Person \($0)", $0) }.joined(), to: "many.vcf")
        try write(Self.card("Single", 1), to: "single.vcf")
        try write("", to: "empty.vcf")
        let pages = try #require(reindexAll(items: items))
        #expect(pages >= 20 / items && index.recorded.items.count == 21 && index.recorded.kept.count == 21)
    }

    @Test func eachFileWithoutACardIsNamed() throws {
        // The names do not fit into one page.
        for number in 0..<600 { try write("BEGIN:VCARD\nFN:Cut \(number)\n", to: "a\(number).vcf") }
        for number in 0..<1100 { try write("nothing", to: "b\(number).vcf") }
        #expect(reindexAll(items: 100_000) == 4)
        let reasons = index.recorded.leftOut.values
        #expect(
            reasons.count { $0 == "it has no vCard" } == 1100 && index.recorded.kept.count == 600, "\(Set(reasons))")
    }

    @Test func aThrottledPageEndsEarly() throws {
        try write((0..<100).map { Self.card("Person \($0)", $0) }.joined(), to: "many.vcf")
        let handler = handler()
        handler.searchableIndexDidThrottle(index)
        #expect(try #require(reindexAll(by: handler)) >= 3)
        #expect(index.recorded.items.count == 100)
        // The host counts the items of all pages.
        #expect(reports == [])
    }

    @Test func aChangedFileCostsItsChangedCardsOnly() throws {
        var cards = (0..<1000).map { Self.card("Person \($0)", $0) }
        try write(cards.joined(), to: "many.vcf")
        reindexAll()
        let before = index.recorded.items.count
        cards[500] = Self.card("Renamed", 500)
        cards.remove(at: 10)
        cards.append(Self.card("New", 5000))
        try write(cards.joined(), to: "many.vcf")
        #expect(update([.changed(url("many.vcf"))]))
        #expect(titles.contains("Renamed") && titles.contains("New") && !titles.contains("Person 500"))
        #expect(!titles.contains("Person 10") && index.recorded.kept.count == 1000)
        // Three of 60 parts were donated again.
        #expect(index.recorded.items.count - before < 100)
    }

    @Test func aMovedFileKeepsItsItems() throws {
        try write((0..<3).map { Self.card("Person \($0)", $0) }.joined(), to: "old.vcf")
        reindexAll()
        try FileManager.default.moveItem(atPath: path("old.vcf"), toPath: path("new.vcf"))
        #expect(update([.moved(from: url("old.vcf"), to: url("new.vcf"))]))
        #expect(index.recorded.calls.contains { $0.hasPrefix("rename ") && $0.contains("old.vcf//uid:0 -> ") })
        #expect(index.recorded.kept.keys.sorted() == (0..<3).map { path("new.vcf") + "//uid:\($0)" })
    }

    @Test func aRemovedFileLosesItsItems() throws {
        try write(Self.card("Ada", 1) + Self.card("Bob", 2), to: "one.vcf")
        try write(Self.card("Cleo", 3), to: "two.vcf")
        reindexAll()
        try FileManager.default.removeItem(atPath: path("one.vcf"))
        #expect(update([.removed(url("one.vcf"))]) && titles == ["Cleo"])
    }

    @Test func itemsAreRequestedByIdentifier() throws {
        try write(Self.card("Ada", 1) + Self.card("Bob", 2), to: "one.vcf")
        reindexAll()
        try write(Self.card("Ada Lovelace", 1), to: "one.vcf")
        let isDone = Mutex(false)
        let identifiers = [path("one.vcf") + "//uid:1", path("one.vcf") + "//uid:2", "nonsense"]
        handler().searchableIndex(index, reindexSearchableItemsWithIdentifiers: identifiers) {
            isDone.withLock { $0 = true }
        }
        #expect(isDone.withLock { $0 } && titles == ["Ada Lovelace"])
        #expect(index.recorded.calls.contains { $0.contains("nonsense") })
    }

    @Test func theLogOfADatabaseIsAChangeOfTheDatabase() throws {
        let book = home + "/.contacts/contacts.db"
        try SamplePeople.run(["book-log", book])
        #expect(update([.changed(URL(filePath: book + "-wal"))]))
        #expect(titles.count == 4)
    }

    @Test func cardsAndFilesWithoutAnItemAreReported() throws {
        try write("no cards here", to: "other.vcf")
        try write(Self.card("Ada", 1, "PHOTO;ENCODING=b:!!!!\n"), to: "ada.vcf")
        reindexAll()
        #expect(index.recorded.leftOut[path("other.vcf")] == "it has no vCard")
        #expect(index.recorded.leftOut[path("ada.vcf") + "//uid:1"] == "read in part: its picture cannot be decoded")
        #expect(reports.contains { $0.contains("other.vcf: it has no vCard") } && titles == ["Ada"])
    }

    @Test func representationsAreDelivered() throws {
        try write(
            Self.card("Ada", 1, "EMAIL:ada@example.org\nTEL:+44 20\n") + Self.card("Bob", 2, "TEL:+1 (555) 0100\n"),
            to: "two.vcf")
        try write(Self.card("Cleo", 3), to: "one.vcf")
        reindexAll()
        let handler = handler()
        let ada = path("two.vcf") + "//uid:1"
        func text(_ item: String, _ type: String) throws -> String {
            String(decoding: try handler.data(for: index, itemIdentifier: item, typeIdentifier: type), as: UTF8.self)
        }
        #expect(try text(ada, "public.vcard") == Self.card("Ada", 1, "EMAIL:ada@example.org\nTEL:+44 20\n"))
        #expect(try text(ada, "public.utf8-plain-text") == "Ada\nE-mail: ada@example.org\nPhone: +44 20\n")
        #expect(try text(ada, "public.url") == "mailto:ada@example.org")
        #expect(try text(path("two.vcf") + "//uid:2", "public.url") == "tel:+15550100")
        #expect(throws: UnsupportedType.self) { try text(ada, "public.png") }
        #expect(throws: CocoaError.self) { try text(path("two.vcf") + "//uid:9", "public.vcard") }
        let single = path("one.vcf") + "//uid:3"
        let file = try handler.fileURL(
            for: index, itemIdentifier: single, typeIdentifier: "public.vcard", inPlace: true)
        #expect(file.path(percentEncoded: false) == path("one.vcf"))
        #expect(throws: UnsupportedType.self) {
            try handler.fileURL(for: index, itemIdentifier: ada, typeIdentifier: "public.vcard", inPlace: true)
        }
        let promised = index.recorded.kept[ada]?.attributeSet
        #expect(promised?.providerDataTypeIdentifiers == ["public.vcard", "public.utf8-plain-text", "public.url"])
        #expect(promised?.providerInPlaceFileTypeIdentifiers == nil)
    }

    @Test func previewsShowTheCardWithItsPicture() async throws {
        try SamplePeople("contacts").copy(to: home + "/.contacts")
        let reply = try await handler().providePreviewOfSearchableItem(
            identifier: path("apple.vcf") + "//uid:apple-1:ABPerson", queryString: nil)
        #expect(reply.title == "Grace Hopper")
    }

    @Test func otherPathsAreNotRead() throws {
        try Data(Self.card("Secret", 1).utf8).write(to: URL(filePath: home + "/secret.vcf"))
        for item in [home + "/secret.vcf//uid:1", path("../secret.vcf") + "//uid:1", "/etc/passwd//uid:1", "//uid:1"] {
            #expect(throws: (any Error).self) {
                try handler().data(for: index, itemIdentifier: item, typeIdentifier: "public.vcard")
            }
        }
    }

    @Test func theSettingsAddFolders() throws {
        try FileManager.default.createDirectory(
            atPath: home + "/.config/com.searchlight.contacts", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: home + "/exports", withIntermediateDirectories: true)
        try Data("~/exports\n!*.old.vcf\n".utf8).write(
            to: URL(filePath: home + "/.config/com.searchlight.contacts/folders"))
        try Data(Self.card("Exported", 1).utf8).write(to: URL(filePath: home + "/exports/a.vcf"))
        try write(Self.card("Old", 2), to: "a.old.vcf")
        try write(Self.card("Ada", 3), to: "ada.vcf")
        reindexAll()
        #expect(titles == ["Ada", "Exported"])
    }
}
