// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightEngine

/// The behaviour of Bookmarks when a browser writes its files.
@Suite("Bookmarks that follow their files", .timeLimit(.minutes(10)))
struct BookmarkChangeTests {
    private let harness: Harness
    private let bundle: String
    /// The items donated since the last check.
    private let donated = Donated()

    private final class Donated: Sendable {
        private let count = Mutex(0)
        func add(_ number: Int) { count.withLock { $0 += number } }
        func take() -> Int {
            count.withLock { count in
                defer { count = 0 }
                return count
            }
        }
    }

    init() throws {
        harness = try Harness()
        bundle = try harness.installBookmarks()
        harness.listen { [donated] event in if case .donated(_, let count) = event { donated.add(count) } }
    }

    private func update(_ engine: SearchlightEngine, _ paths: String...) async throws {
        try await engine.onHost { (host) throws(ExtensionError) in
            try await host.updateFiles(paths.map { .changed(path: $0) }, bundle)
        }
    }

    private func count(_ text: String, _ engine: SearchlightEngine) async throws -> Int {
        try await engine.search(text, bundle: nil, limit: 5).total
    }

    @Test("Only differences are donated and deleted bookmarks are removed, in a new worker and in the same one")
    func differences() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        try profile.run("BEGIN")
        for number in 100..<1600 { try profile.add(number, "https://site\(number).example/", "Site \(number)") }
        try profile.run("COMMIT")
        let log = profile.places + "-wal"
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1500)
            // No state is recorded yet.
            try await update(engine, log)
            #expect(try await engine.compare(bundle).isEqual)
        }
        let seeds = (0..<4).map { MutationLoop.seed &+ $0 }
        for round in 0..<2 {
            try await harness.withEngine { engine async throws in
                _ = donated.take()
                // A page was visited: the database changed, but no bookmark did.
                try profile.run("INSERT INTO moz_places(url, title) VALUES ('https://read.example/', 'news')")
                try await update(engine, log)
                #expect(donated.take() == 0)
                for number in 0..<2 {
                    var random = SplitMix64(seed: seeds[round * 2 + number])
                    let name = 100 + random.below(1500)
                    try profile.run(
                        """
                        UPDATE moz_bookmarks SET title = 'Renamed \(number)' WHERE id = \(name);
                        DELETE FROM moz_bookmarks WHERE id = \(name == 100 ? 101 : name - 1);
                        """)
                    try await update(engine, profile.places, log)
                    // Each difference donates one of 31 parts again.
                    #expect((1...250).contains(donated.take()))
                    let comparison = try await engine.compare(bundle)
                    #expect(comparison.isEqual, "\(comparison)")
                    _ = donated.take()
                }
            }
        }
    }

    @Test("Chromium's file, an exported file and a deleted profile are followed, and other files are not read")
    func otherFiles() async throws {
        let folder = harness.folder + "/config/chromium/Default"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        func write(_ titles: String...) throws {
            let children = titles.map {
                "{\"guid\": \"g-\($0)\", \"name\": \"\($0)\", \"type\": \"url\", \"url\": \"https://\($0).example/\"}"
            }
            let text = """
                {"roots": {"bookmark_bar": {"children": [\(children.joined(separator: ","))], "name": "Bar",
                "type": "folder"}}, "version": 1}
                """
            // Like Chromium, which renames another file over the old one.
            try Data(text.utf8).write(to: URL(filePath: folder + "/.org.chromium.x"))
            try #require(rename(folder + "/.org.chromium.x", folder + "/Bookmarks") == 0)
        }
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            try write("alpha", "beta")
            try await update(engine, folder + "/Bookmarks")
            #expect(try await count("alpha", engine) == 1)
            try write("beta", "gamma")
            try await update(engine, folder + "/Cookies", folder + "/Bookmarks.bak")
            #expect(try await count("gamma", engine) == 0)
            try await update(engine, folder + "/Cookies", folder + "/Bookmarks")
            #expect(try await count("alpha", engine) == 0)
            #expect(try await count("gamma", engine) == 1)
            try harness.export("<DT><A HREF=\"https://delta.example/\">delta</A>")
            try await update(engine, harness.folder + "/Documents/bookmarks.html")
            #expect(try await count("delta", engine) == 1)
            try FileManager.default.removeItem(atPath: folder)
            try await engine.onHost { (host) throws(ExtensionError) in
                try await host.updateFiles([.removed(path: folder + "/Bookmarks")], bundle)
            }
            #expect(try await engine.itemCounts() == [bundle: 1])
            #expect(try await engine.compare(bundle).isEqual)
        }
    }

    @Test("By its manifest it receives changes of databases and their logs, and no others of a browser's folder")
    func manifest() async throws {
        let profile = try FirefoxProfile(home: harness.folder)
        let chromium = harness.folder + "/config/chromium/Default"
        try FileManager.default.createDirectory(atPath: chromium, withIntermediateDirectories: true)
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            _ = try await engine.update(bundle)
            try profile.add(20, "https://new.example/", "Saffron")
            for path in [profile.folder + "/cookies.sqlite", chromium + "/History"] {
                try Data("x".utf8).write(to: URL(filePath: path))
            }
            let told = try #require(try await engine.update(bundle).first)
            #expect(told.problem == nil && told.reindexed == nil && told.changed == 1, "\(told)")
            #expect(try await count("saffron", engine) == 1)
        }
    }

    @Test("While one file is damaged its bookmarks stay, the others are updated, and the request is repeated")
    func damaged() async throws {
        do {
            let profile = try FirefoxProfile(home: harness.folder)
            try profile.add(20, "https://kept.example/", "Kept")
            try profile.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let places = harness.folder + "/.mozilla/firefox/x1y2.default/places.sqlite"
        let whole = try Data(contentsOf: URL(filePath: places))
        try harness.export("<DT><A HREF=\"https://a.example/\">Goes</A>")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 2)
            try await update(engine, places)
        }
        try Data("<html>".utf8).write(to: URL(filePath: places))
        try harness.export("<DT><A HREF=\"https://b.example/\">Comes</A>")
        try await harness.withEngine { engine async throws in
            let failure = await #expect(throws: EngineError.self) { try await update(engine, places) }
            #expect("\(String(describing: failure))".contains("its bookmarks stay as they were"))
            for (title, expected) in [("kept", 1), ("comes", 1), ("goes", 0)] {
                #expect(try await count(title, engine) == expected, "\(title)")
            }
            try whole.write(to: URL(filePath: places))
            try await update(engine, places)
            #expect(try await engine.compare(bundle).isEqual)
        }
    }

    @Test("A database that another process writes to is read in one state, and the last state is found")
    func writtenMeanwhile() async throws {
        do {
            let profile = try FirefoxProfile(home: harness.folder)
            for number in 100..<400 { try profile.add(number, "https://site\(number).example/", "Site \(number)") }
            try profile.run("PRAGMA wal_checkpoint(TRUNCATE)")
        }
        let places = harness.folder + "/.mozilla/firefox/x1y2.default/places.sqlite"
        let program = harness.folder + "/writer"
        let (status, output) = try CFixture.run(
            CFixture.compiler,
            [
                "-Wall", "-Wextra", "-Werror", BuiltProducts.repository + "/Tests/Fixtures/Browsers/writer.c",
                "-lsqlite3",
            ]
                + ["-o", program])
        try #require(status == 0, "\(output)")
        try await harness.withEngine { engine async throws in
            _ = try await engine.reindexAll(bundle)
            let writer = try ChildProcess(program, [places, "400"])
            var states = 0
            while writer.isRunning {
                do {
                    try await update(engine, places, places + "-wal")
                } catch let error as EngineError {
                    // The database changed during each attempt, so the attempt is repeated.
                    #expect("\(error)".contains("is being written to all the time"))
                    continue
                }
                states += 1
                let lefts = try await engine.search("left", bundle: nil, limit: 5).hits.map(\.item.displayTitle)
                let rights = try await engine.search("right", bundle: nil, limit: 5).hits.map(\.item.displayTitle)
                #expect(lefts.count <= 1 && lefts.map { $0.dropFirst(5) } == rights.map { $0.dropFirst(6) })
            }
            #expect(writer.wait().status == 0)
            #expect(states > 0)
            try await update(engine, places, places + "-wal")
            #expect(try await count("\"left 400\"", engine) == 1)
            #expect(try await engine.compare(bundle).isEqual)
        }
    }
}
