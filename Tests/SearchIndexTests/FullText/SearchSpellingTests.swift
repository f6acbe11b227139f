// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing
import UserSearch

@testable import SearchIndex

@Suite("Misspelled words in a search")
struct SearchSpellingTests {
    private static func search(
        _ store: Store, _ text: String, change: (inout SearchRequest) -> Void = { _ in }
    ) async throws -> (found: [String], searched: String?) {
        var request = SearchRequest(text)
        change(&request)
        let page = try await store.index.search(request)
        return (page.hits.map(\.item.record.uniqueIdentifier), page.correction?.text)
    }

    private static func reports() async throws -> Store {
        let store = try Store()
        try await store.put(
            item("report", title: "Quarterly report", text: "The figures of the quarter, and a réunion in Köln"),
            item("notes", title: "Notes", keywords: ["meeting"], text: "Nothing of the kind, O'Reilly said"),
            item("bench", title: "Workbench"))
        return store
    }

    @Test(
        "A word that occurs nowhere is replaced by its best correction",
        arguments: [
            ("reprot", "report", ["report"]), ("quartrely reprot", "quarterly report", ["report"]),
            ("Quartely ", "quarterly ", ["report"]), ("meetign", "meeting", ["notes"]),
            ("  figuers,  quarter", "  figures,  quarter", ["report"]), ("reunoin", "reunion", ["report"]),
            ("kind:xqv nothnig", "kind:xqv nothing", ["notes"]), ("Kölnn", "koln", ["report"]),
        ])
    func corrected(typed: String, searched: String, found: [String]) async throws {
        let store = try await Self.reports()
        let result = try await Self.search(store, typed)
        #expect(result.searched == searched)
        #expect(result.found.first == found.first)
    }

    @Test(
        "A question keeps its question words and function words, which may occur nowhere",
        arguments: [
            ("when does the report meet", nil), ("where was their meeting", nil), ("which reprot", "which report"),
            ("what about the figuers", "what about the figures"),
        ] as [(String, String?)])
    func questions(typed: String, searched: String?) async throws {
        let store = try await Self.reports()
        // One edit away from “when”, “where”, “which”, “what”, “does” and “about”.
        try await store.put(item("near", title: "Then there", text: "A witch with a hat dose abort the trial"))
        #expect(try await Self.search(store, typed).searched == searched)
    }

    @Test("The words of a part that is nearly a filter are not corrected")
    func hintedParts() async throws {
        let store = try await Self.reports()
        try await store.put(item("mail", title: "Lind", text: "Mail of the month"))
        #expect(try await Self.search(store, "knd:mial report").searched == nil)
        #expect(try await Self.search(store, "kindd:mial reprot").searched == "kindd:mial report")
        #expect(try await Self.search(store, "kind:mial report").searched == nil)
    }

    @Test("The ranges of a correction are the ranges of the other words")
    func ranges() async throws {
        let store = try await Self.reports()
        let page = try await store.index.search(SearchRequest("é quartrely the reprot, zzzzzz"))
        let correction = try #require(page.correction)
        let bytes = Array(correction.text.utf8)
        #expect(
            correction.ranges.map { String(decoding: bytes[$0], as: UTF8.self) } == ["quarterly", "report"])
    }

    @Test(
        "Words in any known form, phrases, exclusions, filters and words with digits are not corrected",
        arguments: [
            "reports", "repor", "quarterlies", "bench", "\"reprot\"", "notes -reprot", "from:reprot", "title:reprot",
            "reprot2", "kind", "figurs", "thw", "o'reily", "xyzzy", "qq", "reilly",
        ])
    func left(typed: String) async throws {
        let store = try await Self.reports()
        #expect(try await Self.search(store, typed).searched == nil)
    }

    @Test("A search without corrections is not corrected")
    func turnedOff() async throws {
        let store = try await Self.reports()
        let (found, searched) = try await Self.search(store, "reprot") { $0.correctsSpelling = false }
        #expect(found.isEmpty && searched == nil)
    }

    @Test("A correction without more hits is not used")
    func noMore() async throws {
        let store = try await Self.reports()
        // A filter removes all results of the correction.
        #expect(try await Self.search(store, "meetign title:workbench").searched == nil)
        let (found, searched) = try await Self.search(store, "workbench meetign title:workbench")
        #expect(found == ["bench"] && searched == nil)
        // Without the filter, the correction has one more result.
        #expect(try await Self.search(store, "workbench meetign").searched == "workbench meeting")
    }

    @Test("A search in one bundle reveals no word of another")
    func bundles() async throws {
        let store = try await Self.reports()
        try await store.put(item("other", title: "Resort"), in: IndexScope(bundle: "com.example.other"))
        let other = try await Self.search(store, "reprot") { $0.bundle = "com.example.other" }
        #expect(other.searched == "resort" && other.found == ["other"])
        let own = try await Self.search(store, "reprot") { $0.bundle = Store.app.bundle }
        #expect(own.searched == "report")
        // The typed word occurs only in the other bundle, so it is still corrected here.
        let resort = try await Self.search(store, "resort") { $0.bundle = Store.app.bundle }
        #expect(resort.searched == "report")
    }

    @Test("The correction that more items have comes first")
    func frequency() async throws {
        let store = try Store()
        try await store.put(item("1", text: "lemon"), item("2", text: "melon"))
        for number in 3..<20 { try await store.put(item("\(number)", text: "melon \(number)")) }
        #expect(try await Self.search(store, "lelon").searched == "melon")
    }

    @Test("All pages have the corrections of the first, with any donations in between")
    func pages() async throws {
        let store = try Store()
        for number in 0..<10 { try await store.put(item("\(number)", title: "Report \(number)")) }
        var request = SearchRequest("reprot")
        request.limit = 4
        let first = try await store.index.search(request)
        try await store.put(item("new", title: "Reprot"))
        request.cursor = try SearchCursor(bytes: #require(first.next).bytes)
        let second = try await store.index.search(request)
        #expect(second.correction == first.correction && second.correction?.text == "report")
        #expect(Set((first.hits + second.hits).map(\.item.number)).count == 8)
        request.cursor = second.next
        #expect(try await store.index.search(request).hits.count == 2)
        // A search that starts now finds the word as typed.
        request.cursor = nil
        #expect(try await store.index.search(request).hits.map(\.item.record.uniqueIdentifier) == ["new"])
    }

    @Test("A cursor is restored from its bytes, and invented bytes give no cursor or a harmless cursor")
    func cursors() async throws {
        let store = try await Self.reports()
        let words = [WordReplacement(range: 2..<5, word: "größe"), WordReplacement(range: 300..<4000, word: "cat")]
        for replacements in [[], words] {
            for readsFilters in [true, false] {
                for readsBareDates in [true, false] {
                    let cursor = SearchCursor(
                        now: 7, shown: [1, -1, .max], replacements: replacements, readsFilters: readsFilters,
                        readsBareDates: readsBareDates)
                    #expect(SearchCursor(bytes: cursor.bytes) == cursor)
                    #expect(cursor.bytes.count <= SearchCursor.maximumBytes(hits: 3))
                }
            }
        }
        var random = SplitMix64(seed: 5)
        let sample = SearchCursor(now: 7, shown: [1], replacements: words).bytes
        for _ in 0..<300 {
            var bytes = sample
            bytes[random.below(bytes.count)] = UInt8(random.below(256))
            guard let cursor = SearchCursor(bytes: bytes) else { continue }
            var request = SearchRequest("é reprot")
            request.cursor = cursor
            _ = try await store.index.search(request)
        }
    }

    @Test("Words that no item has are no corrections, and are removed in the end")
    func deleted() async throws {
        let store = try await Self.reports()
        try await store.index.delete(identifiers: ["report"], in: Store.app)
        #expect(try await Self.search(store, "reprot").searched == nil)
        try await store.index.settle()
        let applier = try #require(store.index.applier)
        repeat { applier.tidy() } while applier.state.withLock { $0.needsTidying }
        let (known, gone, total) = try await store.index.write("Looking") { db in
            (
                try SpellingWords.contains("meeting", db), try SpellingWords.contains("quarterly", db),
                try Int.fetchOne(db, sql: "SELECT words FROM spelling_total") ?? 0
            )
        }
        #expect(known && !gone)
        // notes meeting nothing the kind reilly said workbench
        #expect(total == 8)
        #expect(try await store.index.write("Checking") { try SpellingWords.problems($0) } == [])
        // A repeated word is stored again.
        try await store.put(item("report", title: "Quarterly report"))
        #expect(try await Self.search(store, "reprot").searched == "report")
    }

    @Test("The vocabulary has every word of letters once, with any number of words", arguments: [1, 2] as [UInt64])
    func vocabulary(seed: UInt64) async throws {
        let store = try Store()
        var random = SplitMix64(seed: seed)
        let letters = Array("abcdefghijé字ßд".unicodeScalars)
        var expected: Set<String> = []
        for number in 0..<40 {
            var words: [String] = []
            for _ in 0..<400 {
                var word = String.UnicodeScalarView()
                for _ in 0..<(1 + random.below(9)) { word.append(random.pick(letters)) }
                words.append(random.below(2) == 0 ? String(word) : String(word).uppercased())
            }
            let text = words.joined(separator: random.pick([" ", ", ", "-", "\n"]))
            try await store.put(item("\(number)", text: text + " d1git 1234 " + String(repeating: "x", count: 33)))
            FullTextTokenizer.forEachWord(in: text) { word in
                let folded = String(decoding: word.bytes, as: UTF8.self)
                if SpellingWords.isKept(folded), !word.isVariant { expected.insert(folded) }
                return true
            }
        }
        let stored = try await store.index.write("Reading the words") { db in
            var words: [String] = []
            for row in try Row.fetchAll(db, sql: "SELECT words FROM spelling_block") {
                let block = SpellingBlock(try row.decode(atIndex: 0))
                #expect(block.size <= SpellingBlock.maximumBytes)
                words += (0..<block.count).map { String(decoding: block.word($0), as: UTF8.self) }
            }
            #expect(try Int.fetchOne(db, sql: "SELECT words FROM spelling_total") == words.count)
            #expect(try SpellingWords.problems(db) == [])
            return words
        }
        #expect(stored.count == Set(stored).count && Set(stored) == expected)
        #expect(expected.count > 3_000)
    }

    @Test("A damaged vocabulary is detected, and returns no missing word")
    func damage() async throws {
        let store = try await Self.reports()
        try await store.index.settle()
        var random = SplitMix64(seed: 3)
        let rows = try await store.index.write("Reading") { db in
            try Data.fetchAll(db, sql: "SELECT words FROM spelling_block").map { Array($0) }
        }
        for bytes in rows {
            for _ in 0..<200 {
                var bytes = bytes
                if random.below(3) == 0 { bytes.removeLast(1 + random.below(bytes.count - 1)) }
                bytes[random.below(bytes.count)] = UInt8(random.below(256))
                bytes.withUnsafeBytes { raw in
                    let block = SpellingBlock(raw)
                    for index in 0..<block.count { #expect(!block.word(index).isEmpty) }
                    SpellingBlock.forEachWord(in: raw, near: .max, within: 2) { _ in }
                }
            }
        }
        let problems = try await store.index.write("Damaging") { db in
            try db.execute(sql: "DELETE FROM spelling_block WHERE id = (SELECT max(id) FROM spelling_block)")
            return try SpellingWords.problems(db)
        }
        #expect(problems.count == 1)
    }

    @Test("The words of a long text are stored while it is read, with any spaces", arguments: ["\u{2003}", " "])
    func manyWords(space: String) async throws {
        let store = try Store()
        let letters = Array("абвгдежзик")
        let words = (0..<40_000).map { number in
            String(String(format: "%05d", number).compactMap(\.wholeNumberValue).map { letters[$0] })
        }
        let text = SearchableText(item("a", text: words.joined(separator: space)), bundle: 1)
        let totals = try await store.index.write("Adding") { db in
            let writer = SpellingWriter(db, cache: FullTextCache())
            try writer.add(text)
            let written = try Int.fetchOne(db, sql: "SELECT words FROM spelling_total")
            try writer.finish()
            return [written, try Int.fetchOne(db, sql: "SELECT words FROM spelling_total")]
        }
        #expect(totals == [2 * SpellingWriter.maximumMet, words.count])
    }

    @Test("A word that the vocabulary lacks is detected, unless the vocabulary was full")
    func missing() async throws {
        let store = try await Self.reports()
        try await store.index.settle()
        let total = try await store.index.write("Filling") { db in
            #expect(try FullTextCheck.problems(db) == [])
            let total = try Int.fetchOne(db, sql: "SELECT words FROM spelling_total") ?? 0
            let word = Array("workbench".utf8)
            let key = SpellingWords.key(length: word.count, hash: SpellingWords.hash(word))
            try db.inSavepoint {
                try db.execute(sql: "DELETE FROM spelling_block WHERE id / (1 << 56) = 9")
                try db.execute(sql: "UPDATE spelling_total SET words = words - ?", arguments: [2])
                #expect(SpellingWords.length(ofKey: key) == 9)
                let problems = try FullTextCheck.problems(db)
                #expect(problems == ["“quarterly” occurs and is missing from spelling_block"])
                return .rollback
            }
            try db.execute(sql: "UPDATE spelling_total SET words = ?", arguments: [SpellingWords.maximumWords])
            return total
        }
        try await store.put(item("late", text: "latecomer"))
        try await store.index.settle()
        try await store.index.write("Emptying") { db in
            // As after a purge, when there is free space again.
            try db.execute(sql: "UPDATE spelling_total SET words = ?", arguments: [total])
            #expect(try !SpellingWords.contains("latecomer", db))
            #expect(try FullTextCheck.problems(db) == [])
        }
    }

    @Test("A block is divided near its middle, between two keys")
    func borders() {
        #expect(SpellingWords.border(in: [1, 2, 3, 4]) == 2)
        #expect(SpellingWords.border(in: [1, 2, 2, 3]) == 3)
        #expect(SpellingWords.border(in: [1, 2, 2, 2]) == 1)
        #expect(SpellingWords.border(in: [1, 1]) == nil)
        #expect(SpellingWords.border(in: [1]) == nil)
    }

    @Test("A word that returns during a purge is kept")
    func purged() async throws {
        let store = try await Self.reports()
        try await store.put(item("passing", text: "ephemeral"))
        try await store.index.delete(identifiers: ["passing"], in: Store.app)
        try await store.index.settle()
        let applier = try #require(store.index.applier)
        repeat { applier.tidy() } while applier.state.withLock { $0.needsTidying }
        try await store.put(item("back", text: "ephemeral"))
        #expect(try await Self.search(store, "ephemerla").searched == "ephemeral")
    }

    @Test("No correction turns words into a filter", arguments: ["smaler:10k", "kind:imgae"])
    func noFilters(typed: String) async throws {
        let store = try Store()
        try await store.put(item("words", text: "smaller image 10k"))
        #expect(try await Self.search(store, typed).searched == nil)
    }

    @Test("Many neighbours of another bundle do not hide a bundle's own word")
    func foreignNeighbours() async throws {
        let store = try Store()
        try await store.put(item("own", text: "reporters"))
        var words: Set<String> = []
        // Transpositions cost least, so they come first.
        let typed = Array("reprotesr")
        for place in 0..<(typed.count - 1) {
            for letter in "abcdefghijklmnopqrstuvwxyz" {
                var word = typed
                word.swapAt(place, place + 1)
                words.insert(String(word))
                word.insert(letter, at: place)
                words.insert(String(word))
            }
        }
        words.remove("reporters")
        #expect(words.count > SpellingCorrection.maximumCandidates)
        try await store.put(
            item("other", text: words.sorted().joined(separator: " ")), in: IndexScope(bundle: "com.example.other"))
        let own = try await Self.search(store, "reprotesr") { $0.bundle = Store.app.bundle }
        #expect(own.searched == "reporters")
    }

    @Test("The words of items that expired or were not donated again are removed, however few they are")
    func expired() async throws {
        let store = try Store()
        for number in 0..<300 { try await store.put(item("\(number)", text: "kept \(number)")) }
        try await store.put(
            item("expiring", text: "ephemeral", expires: .at(2_000_000)),
            item("late", text: "transitory", expires: .at(2_000_000)))
        try await store.put(item("replaced", text: "superseded"), in: IndexScope(bundle: "com.example.other"))
        try await store.index.settle()
        let applier = try #require(store.index.applier)
        applier.state.withLock { ($0.deletedItems, $0.misspelledItems) = (0, 0) }
        func isKnown(_ word: String) async throws -> Bool {
            repeat { applier.tidy() } while applier.state.withLock { $0.needsTidying }
            return try await store.index.write("Looking") { try SpellingWords.contains(word, $0) }
        }
        #expect(try await isKnown("ephemeral"))
        store.clock.advance(by: 1_500_000)
        _ = try await store.index.purgeStep()
        #expect(try await !isKnown("ephemeral"))
        #expect(try await isKnown("kept"))
        _ = try await store.index.beginWholeReplacement(of: "com.example.other")
        try await store.index.finishReplacement(of: "com.example.other")
        #expect(try await !isKnown("superseded"))
    }
}
