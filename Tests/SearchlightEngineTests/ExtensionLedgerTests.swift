// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import ItemRecord
import SearchIndex
import SystemSupport
import TestSupport
import Testing

@testable import SearchlightEngine

@Suite("The ledger of extensions")
struct ExtensionLedgerTests {
    private let place: EnginePlace
    private static let week = 7.0 * 86400

    init() throws { place = try EnginePlace() }

    /// Returns a ledger that knows an extension in a folder on file system 1, and its findings
    /// after the removal.
    private func ledgerAfter(
        _ states: [SearchedFolder]
    ) throws -> (ledger: ExtensionLedger, registry: ExtensionRegistry) {
        let bundle = try place.install("com.example.notebook").path
        let path = [place.extensions]
        var ledger = ExtensionLedger()
        _ = ledger.meet(ExtensionRegistry(searchPath: path), now: 0, look: { _ in .open(fileSystem: 1) })
        ledger.noteDonation(of: "com.example.notebook")
        try FileManager.default.removeItem(atPath: bundle)
        let registry = ExtensionRegistry(searchPath: path)
        for state in states { _ = ledger.meet(registry, now: 1, look: { _ in state }) }
        return (ledger, registry)
    }

    @Test(
        "Extensions of an unreadable folder, or of an unmounted disk, are not removed",
        arguments: [SearchedFolder.unreadable, .open(fileSystem: 2), .missing(above: 2)])
    func folderIsNotThere(state: SearchedFolder) throws {
        #expect(try ledgerAfter([state]).ledger.removals.isEmpty)
        // The items are not deleted either once the removal was noticed: they wait until the folder
        // can be read again.
        let (ledger, registry) = try ledgerAfter([.open(fileSystem: 1), state])
        #expect(Array(ledger.removals.keys) == ["com.example.notebook"])
        #expect(ledger.due(registry, now: Self.week * 2, grace: Self.week, look: { _ in state }).isEmpty)
        #expect(
            ledger.due(registry, now: Self.week * 2, grace: Self.week, look: { _ in .open(fileSystem: 1) })
                == ["com.example.notebook"])
    }

    @Test(
        "Extensions of an emptied folder, or of one deleted on its file system, are removed",
        arguments: [SearchedFolder.open(fileSystem: 1), .missing(above: 1)])
    func folderIsEmpty(state: SearchedFolder) throws {
        #expect(try Array(ledgerAfter([state]).ledger.removals.keys) == ["com.example.notebook"])
    }

    @Test("A folder is checked: an existing one, a missing one, a file")
    func folders() throws {
        guard case .open(let fileSystem) = SearchedFolder(place.folder.path) else {
            Issue.record("\(SearchedFolder(place.folder.path))")
            return
        }
        #expect(SearchedFolder(place.folder.path("none/none")) == .missing(above: fileSystem))
        try Data().write(to: URL(filePath: place.folder.path("file")))
        #expect(SearchedFolder(place.folder.path("file")) == .unreadable)
        #expect(SearchedFolder(place.folder.path("file/none")) == .unreadable)
        guard case .open(let other) = SearchedFolder("/proc") else { return }
        #expect(other != fileSystem)
    }

    @Test("An app's own donations stay, whatever happens to an extension of its name")
    func app() async throws {
        let bundle = try place.install("com.example.notebook").path
        try await place.withEngine { engine in
            var batch = IndexBatch(scope: IndexScope(bundle: "com.example.notebook", index: nil))
            batch.index([try EncodedItem(ItemRecord(uniqueIdentifier: "own"))])
            try await engine.commit(batch)
            try FileManager.default.removeItem(atPath: bundle)
            _ = await engine.refreshExtensions()
            #expect(engine.removals.isEmpty)
            place.time.pass(Self.week * 2)
            #expect(await engine.carryOutRemovals().isEmpty)
            let found7 = try await engine.itemCounts()
            #expect(found7 == ["com.example.notebook": 1])
        }
    }
}
