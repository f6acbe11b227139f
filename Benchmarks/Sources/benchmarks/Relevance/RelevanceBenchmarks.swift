// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SearchIndex
import TestSupport
import TextAnalysis

/// Measures how many searches find the intended item: known items by name or description, and
/// questions with relevance judgements.
struct RelevanceBenchmarks {
    let folder: String
    let seed: UInt64
    /// The folder of a judged collection (``JudgedCollection``); `nil` leaves its figures out.
    let collection: String?

    private static let (packages, commands, descriptions) = (1000, 500, 1000)
    /// The number of hits on a page, and how many hits are searched for a missing item.
    private static let (page, depth) = (10, 1000)
    /// The file that lists the misses, with the scores of their hits.
    private var missesPath: String { "\(folder)/relevance-misses.txt" }

    func run() async throws -> Report {
        var report = Report()
        report += try await knownItems()
        if let collection {
            report += try await judgedQuestions(JudgedCollection(folder: collection))
        } else {
            let reason =
                "left out: name the collection's folder with --judged or SEARCHLIGHT_JUDGED (docs/PERFORMANCE.md)"
            report.facts.append(Fact(name: "judged questions", value: reason))
            Progress.say("  Judged questions are \(reason).")
        }
        return report
    }

    // MARK: Known items

    private func knownItems() async throws -> Report {
        Progress.say("  Reading packages and manual pages …")
        let packages = try KnownItems.packages()
        let pages = try KnownItems.manualPages()
        let commands = KnownItems.commands(of: pages)
        var report = Report()
        report.facts.append(
            Fact(
                name: "known items",
                value:
                    "\(packages.count) packages, \(pages.count) manual pages, \(commands.count) of them of programs, seed \(seed)"
            ))
        guard packages.count >= 100 else {
            throw BenchmarkError(
                "Only \(packages.count) packages are known. Run apt-get update on a machine with Debian's packages.")
        }
        var random = SplitMix64(seed: seed)
        let items = packages + pages
        let index = try await store(of: items.shuffled(using: &random).map { ($0.kind.bundle, try $0.encoded) })
        let searches: [(String, [KnownItemSearch], isByTitle: Bool, [(Int, Row)])] = [
            (
                "packages by name", KnownItemSearch.names(Self.packages, of: packages, &random), true,
                [(1, .packageFirst), (3, .packageFirstThree)]
            ),
            (
                "commands by name", KnownItemSearch.names(Self.commands, of: commands, &random), true,
                [(1, .commandFirst), (3, .commandFirstThree)]
            ),
            (
                "items by their description without a word",
                KnownItemSearch.descriptions(Self.descriptions, of: items, &random), false,
                [(10, .descriptionFirstTen)]
            ),
        ]
        var misses: [String] = []
        for (name, searches, isByTitle, places) in searches where !searches.isEmpty {
            Progress.say("  Searching \(name) …")
            var ranks: [Int?] = []
            for search in searches {
                var hits = try await index.search(request(search.typed, limit: Self.page)).hits
                let rank = search.rank(among: hits, byTitle: isByTitle)
                ranks.append(rank)
                guard rank ?? .max > places[0].0 else { continue }
                if rank == nil { hits = try await index.search(request(search.typed, limit: Self.depth)).hits }
                let line = search.miss(rank ?? search.rank(among: hits, byTitle: isByTitle), among: hits)
                misses.append("\(name): \(line)")
            }
            for (place, row) in places {
                let share = Double(ranks.count { $0 ?? .max <= place }) / Double(ranks.count)
                report.measurements.append(
                    Measurement(
                        name: "\(searches.count) \(name), \(place == 1 ? "first" : "in the first \(place)")",
                        value: share * 100, unit: "%", row: row))
            }
        }
        try await close(index)
        try Data((misses.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: missesPath))
        Progress.say("  \(misses.count) searches missed; \(missesPath) says why.")
        return report
    }

    // MARK: Judged questions

    private func judgedQuestions(_ collection: JudgedCollection) async throws -> Report {
        Progress.say("  Asking \(collection.questions.count) judged questions …")
        let index = try await store(
            of: collection.documents.map { document in
                let attributes = ["title": document.title, "textContent": document.text].filter { !$0.value.isEmpty }
                let record = ItemRecord(
                    uniqueIdentifier: document.identifier, domainIdentifier: nil, expiration: .never,
                    attributes: attributes.mapValues { .string($0) })
                return ("com.example.documents", try EncodedItem(record))
            })
        let plain = try PlainRanking(collection)
        var (gains, plainGains): ([Double], [Double]) = ([], [])
        var empty = 0
        for question in collection.questions {
            let found = try await index.search(request(question.text, limit: Self.page)).hits
                .map(\.item.record.uniqueIdentifier)
            if found.isEmpty { empty += 1 }
            guard let gain = collection.gain(of: found, for: question.identifier) else { continue }
            gains.append(gain)
            plainGains.append(collection.gain(of: try plain.search(question.text), for: question.identifier) ?? 0)
        }
        try await close(index)
        guard !gains.isEmpty else { throw BenchmarkError("No question of the collection has judgements.") }
        func mean(_ values: [Double]) -> Double { values.reduce(0, +) / Double(values.count) }
        return Report(
            facts: [
                Fact(
                    name: "judged questions",
                    value: "\(collection.questions.count) on \(collection.documents.count) documents")
            ],
            measurements: [
                Measurement(
                    name: "nDCG@10 of judged questions, as typed", value: mean(gains), unit: "",
                    baseline: "FTS5, any word, stems of English, bm25()", baselineValue: mean(plainGains),
                    row: .judgedGain),
                Measurement(
                    name: "judged questions that find nothing", value: Double(empty), unit: "pages", row: .judgedEmpty),
            ])
    }

    // MARK: Stores

    private func request(_ text: String, limit: Int) -> SearchRequest {
        var request = SearchRequest(text)
        request.limit = limit
        return request
    }

    private var storePath: String { "\(folder)/relevance-store" }

    /// Creates a store with items in several bundles, and waits until all are searchable.
    private func store(of items: [(bundle: String, item: EncodedItem)]) async throws -> SearchIndex {
        try? FileManager.default.removeItem(atPath: storePath)
        let index = try SearchIndex(directory: storePath, access: .readWrite)
        for (bundle, items) in Dictionary(grouping: items, by: \.bundle).sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: items.count, by: Self.itemsPerBatch) {
                let batch = items[start..<min(start + Self.itemsPerBatch, items.count)]
                try await index.index(batch.map(\.item), in: IndexScope(bundle: bundle))
            }
        }
        try await index.settle()
        return index
    }

    private static let itemsPerBatch = 500

    private func close(_ index: SearchIndex) async throws {
        try await index.close()
        try? FileManager.default.removeItem(atPath: storePath)
    }
}

/// The same documents in a plain FTS5 table, which ranks documents that contain any of the words.
private struct PlainRanking {
    private let database: SQLiteConnection
    private let statement: SQLiteStatement

    init(_ collection: JudgedCollection) throws {
        database = try SQLiteConnection(path: ":memory:")
        try database.execute("CREATE VIRTUAL TABLE text USING fts5 (id UNINDEXED, body, tokenize = 'porter unicode61')")
        let insert = try database.prepare("INSERT INTO text (id, body) VALUES (?, ?)")
        try database.execute("BEGIN")
        for document in collection.documents {
            try insert.forEachRow([document.identifier, document.title + " " + document.text]) {}
        }
        try database.execute("COMMIT")
        statement = try database.prepare("SELECT id FROM text WHERE text MATCH ? ORDER BY bm25(text) LIMIT 10")
    }

    func search(_ question: String) throws -> [String] {
        let words = TextAnalyzer.searchWords(of: question).map { "\"\($0)\"" }
        var found: [String] = []
        try statement.forEachRow([words.joined(separator: " OR ")]) { found.append(statement.text(0)) }
        return found
    }
}
