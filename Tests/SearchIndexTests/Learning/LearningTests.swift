// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing
import UserSearch

@testable import SearchIndex

@Suite("Learning from use")
struct LearningTests {
    private static func number(_ identifier: String, _ index: SearchIndex) async throws -> Int64 {
        try #require(try await index.items(uniqueIdentifier: identifier).first).number
    }

    private static func use(
        _ identifier: String, after text: String, _ index: SearchIndex, _ kind: EngagementKind = .open, times: Int = 1
    ) async throws {
        let item = try await number(identifier, index)
        for _ in 0..<times {
            #expect(try await index.countEngagement([Engagement(item: item, text: text, kind: kind)]) == 1)
        }
    }

    /// Returns the counts, as `identifier: text`.
    private static func counted(_ index: SearchIndex) async throws -> Set<String> {
        let history = try await index.engagementHistory(from: 0, limit: 1000)
        #expect(history.total == history.entries.count)
        return Set(
            history.entries.flatMap { entry in
                entry.texts.map { "\(entry.uniqueIdentifier): \($0.typed)" } + [entry.uniqueIdentifier]
            })
    }

    private static func store(_ count: Int = 30) async throws -> Store {
        let store = try Store()
        for number in 0..<count {
            try await store.put(item("\(number)", title: "Quarterly report \(number)", domain: "reports.\(number % 2)"))
        }
        return store
    }

    @Test("A chosen item comes first for the typed text, for its prefixes and for its extensions")
    func firstOfAll() async throws {
        let store = try await Self.store()
        try await Self.use("3", after: "Quar", store.index)
        for text in ["quar", "QUA", "q", "quarterly rep"] {
            #expect(try await store.found(text).first == "3", "\(text)")
        }
        let hit = try #require(try await store.index.search("quar").hits.first)
        #expect(hit.parts.engagement > 0.3 && hit.score == hit.parts.score)
        #expect(hit.parts.score == (hit.parts.textScore + hit.parts.engagement) * hit.parts.freshness)
        var request = SearchRequest("quar")
        request.learnsFrom = nil
        let plain = try await store.index.search(request)
        #expect(plain.hits.first?.item.record.uniqueIdentifier == "29")
        #expect(plain.hits.allSatisfy { $0.parts.engagement == 0 })
    }

    @Test(
        "Other items keep their order, with any choices", arguments: 1...6 as ClosedRange<UInt64>)
    func othersKeepTheirOrder(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let words = ["annual", "report", "reports", "budget", "sales", "meeting", "note", "plan", "plane"]
        let store = try Store()
        for number in 0..<80 {
            let title = (0...random.below(3)).map { _ in random.pick(words) }.joined(separator: " ")
            let text = (0..<random.below(12)).map { _ in random.pick(words) }.joined(separator: " ")
            try await store.put(item("\(number)", title: title, text: text))
        }
        var chosen: Set<Int64> = []
        for _ in 0..<12 {
            let typed = String(random.pick(words).prefix(1 + random.below(4)))
            guard let hit = try await store.index.search(typed).hits.randomElement(using: &random) else { continue }
            chosen.insert(hit.item.number)
            try await store.index.countEngagement([
                Engagement(item: hit.item.number, text: typed, kind: random.pick(EngagementKind.allCases))
            ])
        }
        for _ in 0..<20 {
            var request = SearchRequest(
                String(random.pick(words).prefix(1 + random.below(5)))
                    + (random.below(3) == 0 ? " " + random.pick(words) : ""))
            request.limit = 200
            request.correctsSpelling = false
            let learned = try await store.index.search(request).hits.map(\.item.number)
            #expect(try await store.index.rankingOfAll(request).map(\.item) == learned, "\(request.text)")
            request.learnsFrom = nil
            let plain = try await store.index.search(request).hits.map(\.item.number)
            #expect(plain.filter { !chosen.contains($0) } == learned.filter { !chosen.contains($0) }, "\(request.text)")
            #expect(Set(plain) == Set(learned))
        }
    }

    @Test("A chosen item that the candidates lack is found if it matches")
    func candidates() async throws {
        let store = try Store()
        // The oldest of very many items that contain the same word.
        try await store.put(item("old", title: "note", text: "lemon"), item("other", title: "pear"))
        store.clock.advance(by: 86400)
        let many = try (0..<600).map { try EncodedItem(item("\($0)", title: "note \($0)")) }
        try await store.index.index(many, in: Store.app)
        #expect(
            try await store.index.search("not", limit: 10).hits.allSatisfy { $0.item.record.uniqueIdentifier != "old" })
        try await Self.use("old", after: "not", store.index, times: 3)
        try await Self.use("other", after: "not", store.index, times: 3)
        #expect(try await store.index.search("not", limit: 10).hits.first?.item.record.uniqueIdentifier == "old")
        #expect(try await store.found("not").contains("other") == false)
    }

    @Test("Filters alone find the newest items first, whatever was chosen or rated higher")
    func filtersAlone() async throws {
        let store = try Store()
        store.clock.advance(by: 400 * 86400)
        for number in 0..<6 {
            var record = item("\(number)", title: "report")
            record.attributes["contentType"] = .string("com.adobe.pdf")
            record.attributes["rankingHint"] = .integer(Int64(number * 20))
            record.attributes["contentModificationDate"] = .date(store.clock.now - Double(number) * 20 * 86400)
            try await store.put(record)
        }
        try await Self.use("4", after: "kind:pdf", store.index, times: 4)
        for _ in 0..<4 {
            #expect(
                try await store.index.countEngagement(
                    withItem: "3", of: Store.app.bundle, text: "report", kind: .open))
        }
        #expect(try await store.found("kind:pdf") == ["0", "1", "2", "3", "4", "5"])
        let request = SearchRequest("kind:pdf")
        #expect(try await store.index.search(request).hits.allSatisfy { $0.parts.engagement == 0 })
        #expect(try await store.found("report kind:pdf").first != "0")
    }

    @Test("Old counts have little weight")
    func decay() async throws {
        let store = try Store()
        try await store.put(item("a", title: "note a", expires: .never), item("b", title: "note b", expires: .never))
        try await Self.use("a", after: "note", store.index, times: 4)
        #expect(try await store.found("note").first == "a")
        store.clock.advance(by: 400 * 86400)
        try await Self.use("b", after: "note", store.index)
        #expect(try await store.found("note").first == "b")
        let entries = try await store.index.engagementHistory(from: 0, limit: 10).entries
        #expect(entries.map(\.uniqueIdentifier) == ["b", "a"])
        #expect(entries.map(\.total.events) == [1, 4] && entries[1].total.value < 0.001)
    }

    @Test("Counts survive closing, rebuilding, a new donation and a reindex")
    func survives() async throws {
        let store = try await Self.store()
        try await Self.use("3", after: "quar", store.index)
        try await store.put(item("3", title: "Quarterly report three"))
        // A full reindex of a real extension starts with this deletion.
        var batch = IndexBatch(scope: Store.app)
        batch.deleteAll()
        batch.index(try (0..<30).map { try EncodedItem(item("\($0)", title: "Quarterly report \($0)")) })
        try await store.index.commit(batch)
        #expect(try await Self.counted(store.index) == ["3", "3: quar"])
        // Other extensions delete their donated items.
        batch = IndexBatch(scope: Store.app)
        batch.delete(identifiers: ["3", "4"])
        batch.index([try EncodedItem(item("3", title: "Quarterly report three"))])
        try await store.index.commit(batch)
        #expect(try await Self.counted(store.index) == ["3", "3: quar"])
        try await store.index.beginReplacement(of: Store.app.bundle)
        try await store.index.replaceAll(in: Store.app)
        try await store.put(item("3", title: "Quarterly report once more"))
        try await store.index.finishReplacement(of: Store.app.bundle)
        #expect(try await Self.counted(store.index) == ["3", "3: quar"])
        try await store.index.write("Marking") { try $0.execute(sql: "UPDATE derived_index SET format = 99") }
        try await store.index.close()
        let reader = try SearchIndex(directory: store.folder.path("store"), access: .readOnly) { store.clock.now }
        #expect(try await Self.counted(reader) == ["3", "3: quar"])
        try await reader.close()
        let index = try SearchIndex(directory: store.folder.path("store"), access: .readWrite) { store.clock.now }
        #expect(try await Self.counted(index) == ["3", "3: quar"])
        #expect(try await index.search("quar").hits.first?.item.record.uniqueIdentifier == "3")
        try await index.close()
        #expect(try StoreVerifier(directory: store.folder.path("store")).verify().isClean)
    }

    @Test("A deletion of items, a domain or everything, an expiry and a forgotten bundle remove the counts")
    func deletion() async throws {
        let store = try await Self.store()
        let other = IndexScope(bundle: "com.example.other")
        try await store.put(
            item("expires", title: "Quarterly", expires: .at(store.clock.now + 100)),
            item("theirs", title: "Quarterly"),
            in: other)
        for identifier in ["1", "2", "3", "4", "expires", "theirs"] {
            try await Self.use(identifier, after: "private \(identifier)", store.index)
        }
        func left() async throws -> [String] {
            try await store.index.settle()
            return try await Self.counted(store.index).filter { !$0.contains(":") }.sorted()
        }
        #expect(try await left() == ["1", "2", "3", "4", "expires", "theirs"])
        try await store.index.delete(identifiers: ["1"], in: Store.app)
        let afterItem = try await left()
        #expect(afterItem == ["2", "3", "4", "expires", "theirs"])
        try await store.index.delete(domains: ["reports.0"], in: Store.app)
        let afterDomain = try await left()
        #expect(afterDomain == ["3", "expires", "theirs"])
        store.clock.advance(by: 1000)
        // The item is expired but not deleted yet.
        #expect(try await left() == ["3", "theirs"])
        #expect(try await store.index.engagementHistory(from: 0, limit: 1).items == 2)
        #expect(try await store.index.deleteExpired() == 1)
        let afterExpiry = try await left()
        #expect(afterExpiry == ["3", "theirs"])
        _ = try await store.index.forget(bundle: other.bundle)
        #expect(try await Self.counted(store.index) == ["3", "3: private 3"])
        try await store.index.deleteAll(in: Store.app)
        try await store.index.settle()
        #expect(try await Self.counted(store.index) == [])
    }

    @Test("While learning is off nothing is counted and no count is used; the setting is stored")
    func off() async throws {
        let store = try await Self.store()
        try await Self.use("3", after: "quar", store.index)
        #expect(try store.index.setLearning(false))
        #expect(try store.index.setLearning(false) == false)
        let item = try await Self.number("4", store.index)
        #expect(try await store.index.countEngagement([Engagement(item: item, text: "quar", kind: .open)]) == 0)
        #expect(
            try await !store.index.countEngagement(withItem: "4", of: Store.app.bundle, text: "quar", kind: .select))
        #expect(try await Self.counted(store.index) == ["3", "3: quar"])
        #expect(try await store.found("quar").first == "29")
        try await store.index.close()
        let folder = store.folder.path("store")
        // The same if the database has to be recreated.
        try Data(repeating: 1, count: 100_000).write(to: URL(filePath: folder + "/index.sqlite"))
        let index = try SearchIndex(directory: folder, access: .readWrite) { store.clock.now }
        #expect(index.recovery.lostDonations && !index.learns)
        #expect(try index.setLearning(true) && index.learns)
        try await index.close()
    }

    @Test("Erasing leaves no typed text in any file of the store")
    func clear() async throws {
        let store = try await Self.store()
        let texts = (0..<600).map { "zyxw\($0) " + String(repeating: "secret \($0 % 7) ", count: 11) }
        for (number, text) in texts.enumerated() {
            try await Self.use("\(number % 30)", after: text, store.index)
        }
        func occurrences() throws -> Int {
            let folder = store.folder.path("store")
            let names = try FileManager.default.subpathsOfDirectory(atPath: folder)
            return names.reduce(0) { count, name in
                let bytes = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
                return count + (bytes.range(of: Data("zyxw".utf8)) == nil ? 0 : 1)
            }
        }
        #expect(try occurrences() > 0)
        // The counts of deleted items may remain in free pages, or may be gone.
        try await store.index.delete(domains: ["reports.0"], in: Store.app)
        try await store.index.settle()
        #expect(try await store.index.clearEngagement() == 15)
        #expect(try await Self.counted(store.index) == [])
        #expect(try occurrences() == 0)
        #expect(try await store.index.clearEngagement() == 0)
        // Counting continues as before.
        try await Self.use("3", after: "zyxw", store.index)
        // The log cannot be truncated during a read, and that is reported.
        try await store.index.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA busy_timeout = 0") }
        do {
            let reader = try #require(store.index.pool as? DatabasePool).makeSnapshot()
            await #expect(throws: SearchIndexError.self) { try await store.index.clearEngagement() }
            #expect(try occurrences() > 0)
            try reader.close()
        }
        #expect(try await store.index.clearEngagement() == 0)
        #expect(try occurrences() == 0)
        try await Self.use("3", after: "quar", store.index)
        #expect(try await Self.counted(store.index) == ["3", "3: quar"])
    }

    @Test("An app's reports count in its own searches, for its own items, and elsewhere order only its own hits")
    func apps() async throws {
        let store = try Store()
        let other = IndexScope(bundle: "com.example.other")
        for number in 0..<6 { try await store.put(item("mine \(number)", title: "note", expires: .never)) }
        for number in 0..<6 { try await store.put(item("theirs \(number)", title: "note", expires: .never), in: other) }
        let before = try await store.found("note")
        for _ in 0..<50 {
            #expect(
                try await store.index.countEngagement(
                    withItem: "mine 1", of: Store.app.bundle, text: "note", kind: .select))
        }
        for (identifier, bundle) in [("theirs 1", Store.app.bundle), ("mine 2", other.bundle), ("mine 1", "unknown")] {
            #expect(
                try await !store.index.countEngagement(withItem: identifier, of: bundle, text: "note", kind: .select))
        }
        var own = SearchRequest("not", bundle: Store.app.bundle)
        own.learnsFrom = .app
        let first = try #require(try await store.index.search(own).hits.first)
        #expect(first.item.record.uniqueIdentifier == "mine 1" && first.parts.engagement > 0.3)
        // The ranks of each app are the same as before.
        let after = try await store.found("note")
        #expect(after.map { $0.hasPrefix("mine") } == before.map { $0.hasPrefix("mine") })
        #expect(after.filter { $0.hasPrefix("theirs") } == before.filter { $0.hasPrefix("theirs") })
        #expect(after.first { $0.hasPrefix("mine") } == "mine 1")
        // An app is not affected by the user's own engagements.
        try await Self.use("mine 4", after: "not", store.index, times: 9)
        #expect(try await store.index.search(own).hits.first?.item.record.uniqueIdentifier == "mine 1")
        #expect(try await store.found("not").first == "mine 4")
        var theirs = SearchRequest("not", bundle: other.bundle)
        theirs.learnsFrom = .app
        #expect(try await store.index.search(theirs).hits.allSatisfy { $0.parts.engagement == 0 })
    }

    @Test("An app that reports too often is not counted, but the user's programs are")
    func flood() async throws {
        let store = try await Self.store(3)
        try await store.index.settle()
        store.index.allowance.withLock { $0 = EngagementAllowance(burst: 5, interval: 10) }
        func counted() async throws -> Int {
            var count = 0
            for _ in 0..<8 {
                let isCounted = try await store.index.countEngagement(
                    withItem: "1", of: Store.app.bundle, text: "note", kind: .select)
                count += isCounted ? 1 : 0
            }
            return count
        }
        #expect(try await counted() == 5)
        // A rejected count does not wait for a writer. Reporters that have never donated are
        // limited too.
        try await store.index.pool.write { _ in
            let done = DispatchSemaphore(value: 0)
            let index = store.index
            Task.detached {
                _ = try await index.countEngagement(
                    withItem: "1", of: Store.app.bundle, text: "note", kind: .select)
                done.signal()
            }
            #expect(done.wait(timeout: .now() + 60) == .success)
        }
        store.clock.advance(by: 25)
        #expect(try await counted() == 2)
        try await Self.use("1", after: "quar", store.index, times: 20)
        let entries = try await store.index.engagementHistory(from: 0, limit: 9).entries
        #expect(entries.map(\.total.events) == [20, 7])
        #expect(entries.allSatisfy { $0.total.value <= DecayedCount.maximum + 1e-6 })
    }

    @Test("Chosen texts are read only if they match, and take no bytes of others")
    func reads() async throws {
        let store = try Store()
        let long = String(repeating: "lorem ipsum dolor ", count: 60_000)
        for number in 0..<4 { try await store.put(item("long \(number)", title: "Alpha \(number)", text: long)) }
        let few = (0..<60).map { item("few \($0)", title: "note \($0)", text: "alphabet") }
        for item in few { try await store.put(item) }
        for number in 0..<4 { try await Self.use("long \(number)", after: "alp", store.index, times: 2) }
        func chosen(_ text: String) async throws -> Int {
            let request = SearchRequest(text)
            let search = try #require(try PreparedSearch(store.index, request))
            return try await store.index.readApplied("Looking") { db in
                let run = try search.run(db)
                return try run.learned.texts(having: try run.soughtWords(), db).count
            }
        }
        for text in ["note", "no", "lorem x"] {
            #expect(try await chosen(text) == (text == "lorem x" ? 4 : 0), "\(text)")
        }
        for text in ["alp", "alph", "alpha", "lorem"] { #expect(try await chosen(text) == 4, "\(text)") }
        #expect(try await store.found("note").count == 60)
        let found = try await store.found("alpha")
        #expect(found.count == 64 && found.prefix(4).allSatisfy { $0.hasPrefix("long") }, "\(found.count)")
    }

    @Test("Damaged counts do not prevent any hit")
    func damage() async throws {
        let store = try await Self.store()
        try await Self.use("3", after: "quar", store.index)
        #expect(!store.index.folder.isSuspect)
        // The index that locates an item's count points to a page of another table.
        try await store.index.write("Damaging") { db in
            try db.execute(
                sql: """
                    PRAGMA writable_schema = ON;
                    UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 'item')
                    WHERE name = 'sqlite_autoindex_engagement_1';
                    PRAGMA writable_schema = OFF;
                    """)
            let version = try Int.fetchOne(db, sql: "PRAGMA schema_version") ?? 0
            try db.execute(sql: "PRAGMA schema_version = \(version + 1)")
        }
        #expect(try await store.found("quar").count == 30)
        #expect(store.index.folder.isSuspect)
        try await store.index.close()
        #expect(try !StoreVerifier(directory: store.folder.path("store")).verify().isClean)
    }

    @Test("Each reporter, and all apps together, have a bound of items and of texts")
    func allBounds() async throws {
        let store = try await Self.store(1)
        let number = try await Self.number("0", store.index)
        let bounds = EngagementTable.maximumRows
        try await store.index.write("Filling") { db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT \(bounds.user.items))
                    INSERT INTO item (bundle, index_name, unique_identifier, donated, record, checksum)
                    SELECT bundle, index_name, 'copy ' || n, donated, record, checksum FROM item, n WHERE id = ?1
                    """, arguments: [number])
            // Fills the table to one row below the limit, oldest rows first.
            func fill(_ reporter: String, _ text: String, items: String, _ count: Int) throws {
                try db.execute(
                    sql: """
                        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT \(count))
                        INSERT INTO engagement (item, reporter, text, typed, unity, events, last)
                        SELECT \(items), \(reporter), \(text), \(text), n, 1, n FROM n
                        """)
            }
            let copies =
                try Int64.fetchOne(db, sql: "SELECT min(id) FROM item WHERE unique_identifier LIKE 'copy %'") ?? 0
            try fill("0", "'t ' || n", items: "\(number)", bounds.user.texts)
            try fill("0", "''", items: "\(copies) + n - 1", bounds.user.items)
            try fill("7", "''", items: "\(copies) + n - 1", bounds.app.items)
            func rows(_ condition: String) throws -> Int {
                try Int.fetchOne(db, sql: "SELECT count(*) FROM engagement WHERE \(condition)") ?? 0
            }
            func count(_ reporter: Int64, _ text: String) throws {
                let engagement = Engagement(item: number, text: text, kind: .open)
                try EngagementTable.count(engagement, reporter: reporter, at: 1e9, db)
            }
            try count(0, "new")
            #expect(try (bounds.user.items - 200..<bounds.user.items).contains(rows("reporter = 0 AND text = ''")))
            #expect(try (bounds.user.texts - 400..<bounds.user.texts).contains(rows("reporter = 0 AND text <> ''")))
            try count(7, "")
            #expect(try (bounds.app.items - 10..<bounds.app.items).contains(rows("reporter = 7 AND text = ''")))
            // The newest rows are kept.
            #expect(try rows("item = \(number) AND text IN ('', 'new')") == 3)
            #expect(try rows("unity = 1") == 0)
            // Many apps with few rows each.
            let most = EngagementTable.maximumRowsOfApps
            try fill("100 + n / 400", "''", items: "\(copies) + n % 400", most)
            try fill("100 + n / 400", "'t ' || n", items: "\(copies) + n % 400", most)
            try count(8, "new")
            for kind in ["text = ''", "text <> ''"] {
                #expect(try (most - 200..<most).contains(rows("reporter > 0 AND \(kind)")), "\(kind)")
            }
            #expect(try rows("reporter = 8") == 2)
            // The user's counts have their own limit.
            #expect(try rows("reporter = 0 AND text <> ''") > bounds.user.texts - 400)
        }
    }

    @Test("The table has a bound for each reporter, and the smallest counts are removed")
    func bounds() async throws {
        let store = try await Self.store(2)
        let number = try await Self.number("1", store.index)
        let bundle = Store.app.bundle
        try await store.index.write("Filling") { db in
            let reporter = try #require(try EngagementTable.reporter(of: bundle, db))
            for count in 0..<(EngagementTable.maximumRows.app.texts + 200) {
                let engagement = Engagement(item: number, text: "text \(count)", kind: .select)
                try EngagementTable.count(engagement, reporter: reporter, at: Double(count), db)
            }
        }
        let (texts, newest) = try await store.index.readApplied("Counting") { db in
            (
                try Int.fetchOne(db, sql: "SELECT count(*) FROM engagement WHERE text <> ''") ?? 0,
                try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM engagement WHERE text = 'text 1199')")
            )
        }
        #expect((900...1000).contains(texts) && newest == true)
        #expect(try await store.index.engagementHistory(from: 0, limit: 10).entries.first?.total.events == 1200)
    }

    @Test("A salvage keeps the counts, and damaged counts make nothing pending")
    func salvage() async throws {
        let store = try await Self.store()
        for identifier in ["1", "2", "3"] { try await Self.use(identifier, after: "quar", store.index) }
        try await store.index.close()
        let folder = store.folder.path("store")
        let result = try Salvage(folder: StoreFolder(path: folder), knownGeneration: nil, now: 0).run(because: "a test")
        #expect(!result.hasLosses)
        let index = try SearchIndex(directory: folder, access: .readWrite) { store.clock.now }
        #expect(try await Self.counted(index).count == 6)
        try await index.write("Damaging") {
            try $0.execute(sql: "UPDATE engagement SET unity = 9e999 WHERE text = 'quar'")
        }
        try await index.close()
        _ = try Salvage(folder: StoreFolder(path: folder), knownGeneration: nil, now: 0).run(because: "a test")
        let again = try SearchIndex(directory: folder, access: .readWrite) { store.clock.now }
        #expect(try await Self.counted(again) == ["1", "2", "3"])
        #expect(try await again.generation() == 1)
        try await again.close()
    }

    @Test("Counts follow changes of the wall clock, like items")
    func clock() async throws {
        let clock = TestClock()
        let folder = try TemporaryFolder()
        var seams = StoreHooks()
        seams.bootClock = BootClock { .init(boot: "one", seconds: 5000) }
        let index = try SearchIndex(
            directory: folder.path("store"), access: .readWrite, now: { clock.now }, seams: seams)
        try await index.index([try EncodedItem(item("a", title: "note"))], in: Store.app)
        try await index.settle()
        try await Self.use("a", after: "note", index)
        clock.advance(by: 1000 * 86400)
        _ = try await index.deleteExpired()
        let total = try #require(try await index.engagementHistory(from: 0, limit: 1).entries.first).total
        #expect(abs(total.value - 1) < 1e-6 && total.last == clock.now)
        try await index.close()
    }
}
