// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation
import PluginTesting
import Testing

@testable import ContactCards
@testable import ContentLines

/// Cards that are huge, deeply nested, endless or not cards at all.
@Suite("Hostile cards", .timeLimit(.minutes(10)))
struct HostileCardTests {
    private static let samples = Result { try SamplePeople("hostile-contacts") }

    private func list(_ name: String) throws -> CardList {
        try CardList(#require(try CardFile(contentsOf: Self.samples.get()[name])))
    }

    private func check(_ card: Card) {
        #expect(card.name.utf8.count <= Card.Limits.value + 4)
        #expect(card.phoneNumbers.count <= 100 && card.categories.count <= 100)
        #expect(card.indexedText.text.utf8.count <= Card.maximumText)
        #expect((card.picture?.bytes.count ?? 0) <= Card.Limits.picture)
    }

    @Test func eachFileLosesItsHostileCardOnly() throws {
        let noCards: Set<String> = ["empty.vcf", "binary.vcf", "zeros.vcf"]
        let noOthers: Set<String> = ["same-uid.vcf", "html.vcf", "marks.vcf"]
        for name in try Self.samples.get().names {
            let list = try list(name)
            #expect(list.entries.isEmpty == noCards.contains(name), "\(name)")
            let names = list.entries.filter { !$0.isTooLarge }.map { entry in
                let card = entry.card
                check(card)
                return card.name
            }
            if !noCards.contains(name), !noOthers.contains(name) {
                #expect(names.contains("Sound Person"), "\(name): \(names.prefix(5))")
            }
        }
    }

    @Test(arguments: [
        ("huge-line.vcf", Card.Problem.tooManyLines), ("many-lines.vcf", .tooManyLines),
        ("many-values.vcf", .tooManyValues),
        ("base64-bomb.vcf", .pictureUnreadable), ("base64-bad.vcf", .pictureUnreadable),
    ])
    func lossesAreNamed(_ file: String, _ problem: Card.Problem) throws {
        #expect(try list(file).entries[0].card.problems.contains(problem))
    }

    @Test func aCardWithoutItsEndLosesNothing() throws {
        let entries = try list("no-end.vcf").entries
        #expect(entries.map(\.card.name) == ["Endless", "Sound Person", "Last"])
        #expect(
            entries[0].card.problems == [.noEnd] && entries[0].exported.suffix(11) == Array("END:VCARD\r\n".utf8)[...])
    }

    @Test func filesWithoutCardsAreNamed() throws {
        #expect(try list("binary.vcf").leftOut == "it has no vCard" && list("empty.vcf").leftOut == nil)
        #expect(try list("huge-card.vcf").entries[0].isTooLarge)
    }

    @Test func markupOfCardsIsEscaped() throws {
        let page = try list("html.vcf").entries[0].card.html(book: "", picture: nil)
        #expect(!page.contains("<script>") && !page.contains("<img") && !page.contains("href=\"javascript"))
    }

    /// Changes random bytes in real cards. An environment variable makes this test longer.
    @Test(.timeLimit(.minutes(60))) func mutatedCardsAreReadWithinTheirBounds() throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["SEARCHLIGHT_PEOPLE_FUZZ"].flatMap { Int($0) } ?? 3_000
        let seed = environment["SEARCHLIGHT_PEOPLE_SEED"].flatMap { UInt64($0) } ?? 1
        let samples = try SamplePeople("contacts").contents()
        var mutation = Mutation(
            SeededGenerator(seed: seed),
            pieces: [
                "BEGIN:VCARD\r\n", "END:VCARD\n", "\r\n ", "=\r\n", ";ENCODING=QUOTED-PRINTABLE", ";ENCODING=b",
                "CHARSET=",
                "item1.", "\\", ";", ",", "\"", ":", "PHOTO:data:image/png;base64,", "\0", "\u{FFFF}", "^",
                "TEL;TYPE=\"a,b\":1\n",
            ])
        for _ in 0..<count {
            let sample = samples[Int.random(in: 0..<samples.count, using: &mutation.random)]
            for entry in CardList(ContentEncoding.utf8(mutation.mutated(sample))[...]).entries
            where !entry.isTooLarge {
                let card = entry.card
                try #require(card.indexedText.text.utf8.count <= Card.maximumText)
                _ = (card.plainText, card.html(book: "b", picture: nil), entry.exported)
            }
        }
    }
}
