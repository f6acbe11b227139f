// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ItemRecord
import SearchIndex
import ServiceMessages
import Synchronization

/// The differences between the indexed items and the items that an extension donates now.
package struct ReindexComparison: Hashable, Sendable, Codable {
    /// The index and identifier of an item.
    package struct Name: Hashable, Comparable, Sendable, Codable {
        /// The index; `nil` for the default index.
        package var index: String?
        /// The item's unique identifier.
        package var identifier: String

        /// Orders names by index, then by identifier.
        package static func < (one: Name, other: Name) -> Bool {
            (one.index ?? "", one.identifier) < (other.index ?? "", other.identifier)
        }
    }
    /// The items that were donated but are not in the index, sorted.
    package var missing: [Name] = []
    /// The items that are in the index but were not donated, sorted.
    package var extra: [Name] = []
    /// The items whose indexed and donated records differ, sorted.
    package var differing: [Name] = []
    /// The number of donated items.
    package var donated = 0
    /// The number of indexed items.
    package var indexed = 0
    /// The number of items that were donated in parts. For these, only their existence was
    /// compared.
    package var comparedByName = 0

    /// `true` if there are no differences.
    package var isEqual: Bool { missing.isEmpty && extra.isEmpty && differing.isEmpty }
}

extension SearchlightEngine {
    /// See ``CompareCall``.
    package func compare(_ identifier: String) async throws(EngineError) -> ReindexComparison {
        try await checkNotWhollyLocked(identifier)
        let notes = DonationNotes(now: configuration.now())
        let asked = ExtensionHost(
            configuration: configuration.worker, registry: registry, receiver: notes,
            health: MemoryHealthStore(host.health), now: configuration.now, onEvent: onEvent)
        do throws(EngineError) {
            try await donateEverything(to: notes, identifier, asked)
        } catch {
            await asked.shutdown()
            throw error
        }
        await asked.shutdown()
        var donated = notes.items
        var comparison = ReindexComparison()
        comparison.donated = donated.count
        var cursor: QueryCursor?
        repeat {
            let page = try await items(
                matching: .and([]), bundle: identifier, limit: SearchIndex.maximumPage, after: cursor)
            for item in page.items {
                comparison.indexed += 1
                let name = ReindexComparison.Name(index: item.scope.index, identifier: item.record.uniqueIdentifier)
                guard let note = donated.removeValue(forKey: name) else {
                    comparison.extra.append(name)
                    continue
                }
                switch note.record {
                case .some(let hash) where hash != DonationNotes.hash(of: item.record):
                    comparison.differing.append(name)
                case .some: break
                case nil: comparison.comparedByName += 1
                }
            }
            cursor = page.next
        } while cursor != nil
        comparison.missing = donated.keys.sorted()
        comparison.extra.sort()
        comparison.differing.sort()
        return comparison
    }
}

extension SearchlightEngine {
    /// Runs a full reindex, whole or in pages, against a host that discards the donations.
    private func donateEverything(
        to notes: DonationNotes, _ identifier: String, _ host: ExtensionHost
    ) async throws(EngineError) {
        let answer: WholeReindex
        do throws(ExtensionError) { answer = try await host.reindexAll(identifier) } catch { throw .extension(error) }
        guard answer == .inPages else { return }
        try await pagedReindex(of: identifier, host).run(from: nil, after: 0) { () throws(EngineError) in
            PagedReindex.Yield(items: notes.items.count, unconfirmed: 0)
        } onPage: { (_, _) throws(EngineError) in
        }
    }
}

/// Records hashes of the donated items, as the index would store them, and discards the items.
final class DonationNotes: DonationReceiver {
    /// The recorded facts of an item.
    struct Note {
        var domain: String?
        /// The hash of the record; `nil` after a partial update or a rename.
        var record: Int?
    }
    private let notes = Mutex<[ReindexComparison.Name: Note]>([:])
    private let now: Double

    init(now: Double) { self.now = now }

    /// The items that the index would contain.
    var items: [ReindexComparison.Name: Note] { notes.withLock { $0 } }

    /// Returns the hash of a record. It is only stable within one process.
    static func hash(of record: ItemRecord) -> Int { record.hashValue }

    func receive(_ batch: IndexBatch) async throws(BusError) {
        let index = batch.scope.index
        notes.withLock { notes in
            for change in batch.decodedChanges {
                switch change {
                case .put(let items): for item in items { note(item, index, &notes) }
                case .deleteItems(let identifiers):
                    for identifier in identifiers { notes[.init(index: index, identifier: identifier)] = nil }
                case .deleteDomains(let domains):
                    notes = notes.filter { name, note in
                        name.index != index
                            || !domains.contains { note.domain == $0 || note.domain?.hasPrefix($0 + ".") == true }
                    }
                case .deleteAll: notes = notes.filter { $0.key.index != index }
                case .renameItems(let renames):
                    // The recorded hash covers the old identifier, so it is discarded.
                    renames.apply(to: &notes, key: { .init(index: index, identifier: $0) }) { note, _ in
                        note.record = nil
                    }
                }
            }
        }
    }

    /// Returns `nil`, since nothing is stored.
    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? { nil }

    /// Returns a reply without a record, since nothing is stored.
    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        RecordReply(record: nil)
    }

    /// Returns a page of the identifiers donated so far.
    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] {
        let names = items.keys.filter { $0.index == scope.index }.map(\.identifier)
        return IndexRequest.page(of: names, after: after, limit: limit)
    }

    private func note(_ record: ItemRecord, _ index: String?, _ notes: inout [ReindexComparison.Name: Note]) {
        let name = ReindexComparison.Name(index: index, identifier: record.uniqueIdentifier)
        if record.isUpdate {
            guard var note = notes[name] else { return }
            note.record = nil
            note.domain = record.domainIdentifier ?? note.domain
            notes[name] = note
        } else if case .at(let moment) = record.expiration, moment <= now {
            notes[name] = nil
        } else {
            notes[name] = Note(domain: record.domainIdentifier, record: Self.hash(of: record))
        }
    }
}
