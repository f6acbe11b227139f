// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import TestSupport

@testable import SearchIndex
@testable import ItemRecord

/// The files of an intact store: after a kill, with a database log and unapplied entries; or after
/// closing, with everything in the database.
struct SampleStore {
    /// The bytes of each file, by its path in the store's folder.
    let files: [String: [UInt8]]
    /// The content of the store.
    let contents: Contents

    static let generation = 3
    static let moment = 1000.0
    static let other = IndexScope(bundle: "com.example.other", index: "second")

    /// A store's answers to all queries.
    struct Contents: Equatable {
        var items: [String: ItemRecord] = [:]
        var states: [IndexScope: [UInt8]] = [:]
        /// The items that are found by words and by queries.
        var found: [String: [String]] = [:]

        /// Returns a description of the difference from the expected content.
        func difference(from expected: Contents) -> String {
            let missing = expected.items.keys.filter { items[$0] == nil }.sorted()
            let wrong = items.filter { expected.items[$0.key] != $0.value }.keys.sorted()
            let searches = expected.found.filter { found[$0.key] != $0.value }.keys.sorted()
            return "missing \(missing), wrong \(wrong), searches \(searches), states \(states) for \(expected.states)"
        }
    }

    private static func record(_ number: Int) -> ItemRecord {
        var record = item(
            "item \(number)", title: "apple \(number)", keywords: ["k\(number % 5)"],
            text: String(repeating: "word\(number % 11) some text ", count: 4 + number % 30), domain: "d.\(number % 7)",
            expires: number % 3 == 0 ? .never : .at(5000 + Double(number)))
        record.attributes["pageCount"] = .integer(Int64(number % 13))
        return record
    }

    /// Creates a store and reads its files.
    init(items: Int = 120, isClosed: Bool = false) async throws {
        let folder = try TemporaryFolder()
        let index = try SearchIndex(directory: folder.path, access: .readWrite) { Self.moment }
        try await index.pool.write { db in _ = try StoreRow.update(db) { $0.generation = Self.generation } }
        try await index.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        for start in stride(from: 0, to: items, by: 20) {
            var batch = IndexBatch(scope: start % 40 == 0 ? Store.app : Self.other)
            batch.index(try (start..<start + 20).map { try EncodedItem(Self.record($0)) })
            try await index.commit(batch.with(clientState: Array("state \(start)".utf8)))
        }
        try await index.settle()
        let row = try await index.pool.read { try StoreRow($0) }
        // The current folder, with its log. The copy gets more entries, as if there had been no
        // time to apply them.
        let copy = try TemporaryFolder()
        let names = try Self.names(in: folder.path)
        for name in names where !name.hasSuffix("-shm") {
            let path = copy.path(name)
            try FileManager.default.createDirectory(
                at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: folder.path(name), toPath: path)
        }
        try await index.close()
        let log = try WriteAheadLog(folder: copy.path("journal"), store: row.identifier, applied: row.applied)
        for number in items..<items + 6 {
            var batch = IndexBatch(scope: Store.app, clientState: Array("late \(number)".utf8))
            batch.index([try EncodedItem(Self.record(number))])
            _ = try await log.append(LogEntry(batch))
        }
        log.abandon()
        var files: [String: [UInt8]] = [:]
        for name in try Self.names(in: copy.path) { files[name] = try copy.read(name) }
        let opened = try SearchIndex(
            directory: copy.path, access: .readWrite, knownGeneration: Self.generation
        ) { Self.moment }
        contents = try await Self.contents(of: opened)
        try await opened.close()
        if isClosed {
            files = [:]
            for name in try Self.names(in: copy.path) { files[name] = try copy.read(name) }
        }
        self.files = files
    }

    /// Returns the files in a folder and its subfolders.
    static func names(in folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isFolder)
                && !isFolder.boolValue
        }.sorted()
    }

    /// Writes the files to a separate folder.
    func unpacked(_ change: (inout [String: [UInt8]]) throws -> Void = { _ in }) throws -> TemporaryFolder {
        var files = files
        try change(&files)
        let folder = try TemporaryFolder()
        for (name, bytes) in files {
            let directory = URL(filePath: folder.path(name)).deletingLastPathComponent().path
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try folder.write(bytes, to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.path(name))
        }
        return folder
    }

    /// Runs all queries against a store.
    static func contents(of index: SearchIndex) async throws -> Contents {
        var contents = Contents()
        let all = try await index.items(matching: .init(parsing: "uniqueIdentifier == \"*\""), limit: 10_000)
        for item in all.items { contents.items[item.record.uniqueIdentifier] = item.record }
        for scope in [Store.app, other] { contents.states[scope] = try await index.clientState(of: scope) }
        for word in ["apple", "word3", "k2"] {
            contents.found[word] = try await index.search(word, limit: 10_000).hits.map(\.item.record.uniqueIdentifier)
                .sorted()
        }
        for query in ["pageCount == 4", "keywords == k1", "domainIdentifier == \"d.5\"", "title == \"apple 1*\""] {
            let page = try await index.items(matching: .init(parsing: query), limit: 10_000)
            contents.found[query] = page.items.map(\.record.uniqueIdentifier).sorted()
        }
        return contents
    }

    /// Opens a store in a folder, and closes it again.
    static func withStore<Value>(
        _ folder: TemporaryFolder, knownGeneration: Int? = generation, _ body: (SearchIndex) async throws -> Value
    ) async throws -> Value {
        let index = try SearchIndex(directory: folder.path, access: .readWrite, knownGeneration: knownGeneration) {
            moment
        }
        do {
            let value = try await body(index)
            // The remaining entries are applied at the next opening.
            do { try await index.close() } catch { index.abandon() }
            return value
        } catch {
            index.abandon()
            try? index.pool.close()
            throw error
        }
    }

    /// Changes the database of a closed store without any checks.
    static func alter(_ folder: TemporaryFolder, _ sql: String) throws {
        var configuration = SearchIndex.configuration(isReadOnly: false)
        configuration.foreignKeysEnabled = false
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA writable_schema = ON") }
        let queue = try DatabaseQueue(path: folder.path("index.sqlite"), configuration: configuration)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }
}
