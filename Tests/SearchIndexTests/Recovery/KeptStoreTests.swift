// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import TestSupport
import Testing

@testable import SearchIndex

/// Stores in earlier formats, kept in `Tests/Fixtures/Stores`, one folder per format. It must
/// always remain possible to open and upgrade each of them without loss.
///
/// `SEARCHLIGHT_KEEP_STORE=1 swift test --filter KeptStoreTests` creates the store in the current
/// format if it is missing, and never changes an existing one. Its items and times are fixed; only
/// the store's identifier is random.
@Suite("Kept stores")
struct KeptStoreTests {
    private static let folder =
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().path + "/Fixtures/Stores"
    private static let moment = 700_000_000.0
    private static let count = 24
    private static let state = Array("kept".utf8)

    private static func record(_ number: Int) -> ItemRecord {
        var record = item(
            "kept \(number)", title: "Straße nach Oslo \(number)", keywords: ["number \(number % 3)"],
            text: "the text of item \(number)", domain: "kept.\(number % 4)", expires: .never)
        record.attributes["pageCount"] = .integer(Int64(number))
        return record
    }

    /// - Parameter endsEarly: `true` if the process exits before anything is applied, so that
    ///   everything is in the log.
    private static func fill(_ path: String, endsEarly: Bool = false) async throws {
        let index = try SearchIndex(directory: path, access: .readWrite) { moment }
        for start in stride(from: 0, to: count, by: 8) {
            var batch = IndexBatch(scope: start == 8 ? SampleStore.other : Store.app)
            if start == 8 {
                batch.index([try EncodedItem(item("gone", domain: "gone.below")), try EncodedItem(item("deleted"))])
                batch.delete(identifiers: ["deleted", "unknown"])
                batch.delete(domains: ["gone"])
            } else {
                if start == 0 { batch.index([try EncodedItem(item("before"))]) }
                if start == 0 { batch.deleteAll() }
            }
            batch.index(try (start..<start + 8).map { try EncodedItem(record($0)) })
            try await index.commit(batch.with(clientState: state))
        }
        if endsEarly { index.abandon() } else { try await index.close() }
    }

    /// Checks the content of a store that ``fill(_:)`` created.
    private static func check(_ path: String) async throws {
        let index = try SearchIndex(directory: path, access: .readWrite, knownGeneration: 1) { moment }
        #expect(index.recovery.findings == [] && !index.recovery.lostDonations)
        let all = try await index.items(matching: .init(parsing: "pageCount >= 0"), limit: 1000).items
        #expect(all.map(\.record) == (0..<count).map { Self.record($0) })
        #expect(try await index.search("strasse oslo", limit: 100).total == count)
        for scope in [Store.app, SampleStore.other] { #expect(try await index.clientState(of: scope) == state) }
        try await index.close()
        let report = try StoreVerifier(directory: path).verify()
        #expect(report.isClean, "\(report.findings)")
    }

    @Test("A store of the current format matches the stored fixture")
    func present() async throws {
        let folder = try TemporaryFolder()
        try await Self.fill(folder.path("store"))
        try await Self.check(folder.path("store"))
    }

    @Test("Every kept store is opened completely")
    func kept() async throws {
        let files = FileManager.default
        if ProcessInfo.processInfo.environment["SEARCHLIGHT_KEEP_STORE"] != nil {
            let path = Self.folder + "/\(StoreRow.currentFormat)"
            if !files.fileExists(atPath: path) { try await Self.fill(path) }
            if !files.fileExists(atPath: path + "-log") { try await Self.fill(path + "-log", endsEarly: true) }
        }
        let names = try files.contentsOfDirectory(atPath: Self.folder).sorted()
        #expect(names.contains("\(StoreRow.currentFormat)"), "There is none of the present format.")
        for name in names {
            let copy = try TemporaryFolder()
            try files.copyItem(atPath: Self.folder + "/" + name, toPath: copy.path("store"))
            // The file modes that version control preserves are not sufficient.
            for file in try SampleStore.names(in: copy.path("store")) {
                try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: copy.path("store/" + file))
            }
            try files.setAttributes([.posixPermissions: 0o700], ofItemAtPath: copy.path("store/journal"))
            try await Self.check(copy.path("store"))
        }
    }
}
