// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Opening a store")
struct OpeningTests {
    private static func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }

    @Test("A relative path is relative to the working folder")
    func relativePath() async throws {
        let folder = try TemporaryFolder()
        let here = FileManager.default.currentDirectoryPath
        let up = String(repeating: "../", count: here.split(separator: "/").count)
        let index = try SearchIndex(directory: up + folder.path("store").dropFirst(), access: .readWrite) { 0 }
        try await index.index([EncodedItem(item("one", title: "apple"))], in: Store.app)
        try await index.close()
        #expect(FileManager.default.fileExists(atPath: folder.path("store/index.sqlite")))
    }

    @Test("A new store's folder and files are accessible to its owner only")
    func modes() async throws {
        let folder = try TemporaryFolder()
        let directory = folder.path("deep/store")
        let index = try SearchIndex(directory: directory, access: .readWrite)
        try await index.index([EncodedItem(item("one"))], in: Store.app)
        #expect(try Self.mode(directory) == 0o700)
        let files = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(files.contains("index.sqlite") && files.contains("index.sqlite-wal"))
        for file in files {
            #expect(try Self.mode(directory + "/" + file) == (file == "journal" ? 0o700 : 0o600), "\(file)")
        }
    }

    @Test("A folder that others may read keeps its mode, and its files are still the owner's only")
    func modesInOpenFolder() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        #expect(index.directory == folder.path)
        for file in try folder.names {
            #expect(try Self.mode(folder.path(file)) == (file == "journal" ? 0o700 : 0o600), "\(file)")
        }
    }

    @Test("Every commit reaches the disk before it is acknowledged")
    func synchronous() async throws {
        let store = try Store()
        let (level, log) = try await store.index.write("Asking") { db in
            (try Int.fetchOne(db, sql: "PRAGMA synchronous"), try String.fetchOne(db, sql: "PRAGMA journal_mode"))
        }
        #expect(level == 2, "FULL")
        #expect(log == "wal")
    }

    @Test("Donated items are stored when the store is opened again, to read or to write")
    func reopen() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("store")
        do {
            let index = try SearchIndex(directory: path, access: .readWrite)
            try await index.index([EncodedItem(item("one", title: "apple"))], in: Store.app)
            try await index.close()
        }
        for access in [SearchIndex.Access.readOnly, .readWrite, .readOnly] {
            let index = try SearchIndex(directory: path, access: access)
            #expect(try await index.search("apple").total == 1)
            try index.pool.close()
        }
    }

    @Test("A closed store has no files of SQLite's own, with any references to it, and answers no call")
    func leavesNothing() async throws {
        let folder = try TemporaryFolder()
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        try await index.index([EncodedItem(item("one", title: "apple"))], in: Store.app)
        // Several reading connections.
        try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { try await index.search("apple").total } }
            for try await total in group { #expect(total == 1) }
        }
        try await index.close()
        #expect(try folder.names.filter { $0.hasPrefix("index.sqlite") } == ["index.sqlite"])
        await #expect(throws: SearchIndexError.closed) { try await index.generation() }
        await #expect(throws: SearchIndexError.closed) { try await index.write("Asking") { _ in } }
        #expect(throws: SearchIndexError.closed) { try index.bundles(upTo: 1) }
        try await index.close()
    }

    @Test("Closing a store cancels reads, and does not wait for them")
    func closedWhileReading() async throws {
        let folder = try TemporaryFolder()
        let index = try SearchIndex(directory: folder.path, access: .readWrite)
        try await index.index([EncodedItem(item("one"))], in: Store.app)
        // More reads than reading connections: the last reads wait.
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let readings = (0..<12).map { _ in
            Task {
                try await index.read("Counting for hours") { db in
                    beginning.yield()
                    return try Int.fetchOne(
                        db,
                        sql: """
                            WITH RECURSIVE count(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM count WHERE n < 1e12)
                            SELECT max(n) FROM count
                            """)
                }
            }
        }
        var count = 0
        for await _ in begun {
            count += 1
            if count == SearchIndex.configuration(isReadOnly: false).maximumReaderCount { break }
        }
        async let again: Void = index.close()
        try await index.close()
        try await again
        for reading in readings { await #expect(throws: SearchIndexError.closed) { try await reading.value } }
        #expect(try folder.names.filter { $0.hasPrefix("index.sqlite") } == ["index.sqlite"])
    }

    @Test("A reader sees the commits of a writer, and cannot write")
    func readerBesideWriter() async throws {
        let store = try Store()
        let reader = try SearchIndex(directory: store.folder.path("store"), access: .readOnly) { store.clock.now }
        try await store.put(item("one", title: "apple"))
        try await store.index.settle()
        #expect(try await reader.search("apple").total == 1)
        await #expect {
            try await reader.index([EncodedItem(item("two"))], in: Store.app)
        } throws: { error in
            guard case .readOnly? = error as? SearchIndexError else { return false }
            return true
        }
    }

    @Test("A read without a store reports that and creates none")
    func missing() throws {
        let folder = try TemporaryFolder()
        #expect(throws: SearchIndexError.noStore(path: folder.path("store"))) {
            try SearchIndex(directory: folder.path("store"), access: .readOnly)
        }
        #expect(throws: SearchIndexError.noStore(path: folder.path)) {
            try SearchIndex(directory: folder.path, access: .readOnly)
        }
        try folder.write([], to: "index.sqlite")
        #expect(throws: SearchIndexError.noStore(path: folder.path)) {
            try SearchIndex(directory: folder.path, access: .readOnly)
        }
        #expect(try folder.names == ["index.sqlite"])
    }

    @Test(
        "A store of a later version is rejected and not changed", arguments: [SearchIndex.Access.readOnly, .readWrite])
    func newerFormat(access: SearchIndex.Access) async throws {
        let folder = try TemporaryFolder()
        do {
            let index = try SearchIndex(directory: folder.path, access: .readWrite)
            try await index.write("Pretending to be newer") { db in
                try db.execute(sql: "INSERT INTO grdb_migrations (identifier) VALUES ('999')")
                try StoreRow.update(db) { $0.format += 1 }
            }
            try index.pool.close()
        }
        #expect(throws: SearchIndexError.newerFormat(path: folder.path)) {
            try SearchIndex(directory: folder.path, access: access)
        }
    }

    @Test("A folder instead of the file, or a file instead of the folder, is an error with its path")
    func wrongKind() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("index.sqlite"), withIntermediateDirectories: false)
        try folder.write([1], to: "file")
        for path in [folder.path, folder.path("file")] {
            for access in [SearchIndex.Access.readOnly, .readWrite] {
                #expect {
                    try SearchIndex(directory: path, access: access)
                } throws: { "\($0)".contains(path) }
            }
        }
    }
}
