// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import benchmarks

@Suite struct RelevanceTests {
    @Test func packagesHaveTheirShortAndLongDescription() {
        let list = """
            Package: fish
            Description: shell for people
             Friendly and
             .
             interactive.
            Tag: shells,
             role::program

            Package: nameless

            Package: cat
            Description-en: pet
            """
        let items = KnownItems.packages(in: Data(list.utf8))
        #expect(items.map(\.name) == ["fish", "cat"])
        #expect(items.map(\.summary) == ["shell for people", "pet"])
        #expect(items.map(\.text) == ["Friendly and interactive.", ""])
    }

    @Test func aPageIsKnownByNameAndSection() {
        let lines = """
            ls (1)               - list directory contents
            printf (3)           - formatted output
            printf (1)           - format and print data - really
            printf (1)           - once more
            no page
            """
        let pages = KnownItems.manualPages(in: Data(lines.utf8))
        #expect(pages.map(\.identifier) == ["manual/ls/1", "manual/printf/3", "manual/printf/1"])
        #expect(pages.map(\.summary).last == "format and print data - really")
    }

    @Test func aDescriptionIsOnlyTypedIfItNamesOneItem() throws {
        let items = ["German", "Greek"].map {
            KnownItem(kind: .package, name: "pack-\($0)", summary: "the language pack for \($0)")
        }
        var random = SplitMix64(seed: 1)
        var count = 0
        for _ in 0..<20 {
            for search in KnownItemSearch.descriptions(2, of: items, &random) {
                count += 1
                let language = search.meant.name.dropFirst(5)
                #expect(search.typed.hasSuffix(language) && search.typed.split(separator: " ").count == 4)
            }
        }
        // One of the five words names the item.
        #expect(count > 20)
    }

    @Test func theGainIsThatOfTheBestOrderAtMost() throws {
        let folder = try TemporaryFolder()
        let files = [
            "docs.jsonl": "{\"id\": \"1\", \"title\": \"a\", \"text\": \"\"}\n",
            "queries.tsv": "1\twhat is it\n2\thow does a wing lift\n", "qrels.tsv": "1\t0\t1\t4\n1\t0\t2\t2\n",
        ]
        for (name, text) in files { try Data(text.utf8).write(to: URL(filePath: "\(folder.path)/\(name)")) }
        let collection = try JudgedCollection(folder: folder.path)
        #expect(collection.questions.map(\.text) == ["what is it", "how does a wing lift"])
        #expect(collection.gain(of: ["1", "2"], for: "1") == 1)
        #expect(collection.gain(of: [], for: "1") == 0)
        #expect(collection.gain(of: ["1"], for: "2") == nil)
        // The expected gain: 2 + 4 / log2(3), divided by 4 + 2 / log2(3).
        let swapped = try #require(collection.gain(of: ["2", "1"], for: "1"))
        #expect(abs(swapped - 0.8597) < 0.0001)
    }

    @Test func aCollectionThatCannotBeReadIsNamed() {
        let error = #expect(throws: BenchmarkError.self) { try JudgedCollection(folder: "/nowhere") }
        #expect(error?.description == "/nowhere/docs.jsonl cannot be read.")
    }
}
