// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ItemRecord
import ServiceMessages
import Synchronization
import UniformTypeIdentifiers

/// Keeps what an extension donates in memory, as an index would keep it; a person's store is never touched.
///
/// Not kept: when items expire, and what ties items to each other.
final class DonationCollector: DonationReceiver {
    /// An item by its names.
    struct Name: Hashable, Comparable, Sendable {
        /// The index; `nil` is the default one.
        var index: String?
        var identifier: String

        static func < (one: Name, other: Name) -> Bool {
            (one.index ?? "", one.identifier) < (other.index ?? "", other.identifier)
        }
    }

    private struct State {
        var items: [Name: ItemRecord] = [:]
        /// What the extension finds in its index besides, from an earlier reindex; not among ``items``.
        var known: [Name: ItemRecord]
        var touched: Set<String> = []
        var states: [String: [UInt8]] = [:]
        var donations = 0
        var donatedItems = 0
        var bytes = 0
    }
    private let state: Mutex<State>

    /// The most items that are kept,
    static let maximumItems = 200_000
    /// and the most bytes of records that are taken before the extension is told to stop.
    static let maximumBytes = 512 << 20

    /// - Parameter known: What the extension donated earlier. Asked for an item of these, it finds it, as in an index that
    ///   was filled before its process began; only what it donates from now on is among ``items``.
    init(known: [Name: ItemRecord] = [:]) { state = Mutex(State(known: known)) }

    var items: [Name: ItemRecord] { state.withLock { $0.items } }

    /// The identifiers of what was donated or deleted by name since the last ``beginAnew(keepingItems:)``.
    var touched: Set<String> { state.withLock { $0.touched } }

    /// Whether an item from an earlier reindex is still there.
    func stillKnows(_ name: Name) -> Bool { state.withLock { $0.known[name] != nil } }

    /// Forgets what was donated, as an index that was lost; or only what was touched.
    func beginAnew(keepingItems: Bool = false) {
        state.withLock { state in
            state.touched = []
            guard !keepingItems else { return }
            (state.items, state.known, state.states, state.bytes) = ([:], [:], [:], 0)
        }
    }

    var count: Int { state.withLock { $0.items.count } }

    /// How many times something was donated or deleted.
    var donations: Int { state.withLock { $0.donations } }

    /// How many items were donated, each as often as it was.
    var donatedItems: Int { state.withLock { $0.donatedItems } }

    func receive(_ batch: IndexBatch) async throws(BusError) {
        let refusal: BusError? = state.withLock { state in
            let key = batch.scope.index ?? ""
            if case .exactly(let expected) = batch.expectation, state.states[key] != expected {
                return .remote(
                    name: ServiceErrorName.mismatchedClientState, message: "The client state is another one.")
            }
            let bytes = batch.records.reduce(0) { $0 + $1.count }
            let count = batch.itemCount
            guard state.items.count + count <= Self.maximumItems,
                state.bytes + bytes <= Self.maximumBytes
            else {
                return .refused(
                    .tooLarge,
                    """
                    A validation keeps \(Self.maximumItems) items of \(Self.maximumBytes >> 20) MiB. Have the extension \
                    look at a smaller sample of your data.
                    """)
            }
            state.donations += 1
            state.bytes += bytes
            state.donatedItems += count
            for change in batch.decodedChanges { Self.apply(change, batch.scope.index, &state) }
            if let clientState = batch.clientState { state.states[key] = clientState }
            return nil
        }
        if let refusal { throw refusal }
    }

    private static func apply(_ change: IndexChange<[ItemRecord]>, _ index: String?, _ state: inout State) {
        switch change {
        case .put(let items):
            for item in items {
                let name = Name(index: index, identifier: item.uniqueIdentifier)
                state.touched.insert(item.uniqueIdentifier)
                if item.isUpdate {
                    // An update of an item that is not there is ignored, as an index does.
                    guard var stored = state.items[name] else { continue }
                    for (key, value) in item.attributes { stored.attributes[key] = value == .null ? nil : value }
                    state.items[name] = stored
                } else {
                    state.items[name] = item
                }
            }
        case .deleteItems(let identifiers):
            for identifier in identifiers {
                state.touched.insert(identifier)
                let name = Name(index: index, identifier: identifier)
                (state.items[name], state.known[name]) = (nil, nil)
            }
        case .deleteDomains(let domains):
            let stays = { (name: Name, record: ItemRecord) in
                name.index != index
                    || !domains.contains {
                        record.domainIdentifier == $0 || record.domainIdentifier?.hasPrefix($0 + ".") == true
                    }
            }
            state.items = state.items.filter(stays)
            state.known = state.known.filter(stays)
        case .deleteAll:
            state.items = state.items.filter { $0.key.index != index }
            state.known = state.known.filter { $0.key.index != index }
            state.states[index ?? ""] = nil
        case .renameItems(let renames):
            let key = { Name(index: index, identifier: $0) }
            // An item from an earlier reindex replaces one that was donated, as any other.
            let replaced = renames.effective.filter {
                state.items[key($0.identifier)] == nil && state.known[key($0.identifier)] != nil
            }
            for rename in renames.effective { state.touched.formUnion([rename.identifier, rename.newIdentifier]) }
            renames.apply(to: &state.items, key: key) { $0.uniqueIdentifier = $1 }
            for rename in replaced { state.items[key(rename.newIdentifier)] = nil }
            renames.apply(to: &state.known, key: key) { $0.uniqueIdentifier = $1 }
        }
    }

    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        let found: ItemRecord? = state.withLock { state in
            // As an index answers: from the default one, else from any.
            let name = Name(index: nil, identifier: identifier)
            if let record = state.items[name] ?? state.known[name] { return record }
            let others = [state.items, state.known].lazy.compactMap { items in
                items.filter { $0.key.identifier == identifier }.min { $0.key < $1.key }?.value
            }
            return others.first
        }
        guard let found else { return RecordReply(record: nil) }
        let names = found.texts("contentType").prefix(1)
        let supertypes = names.compactMap { UTType($0) }.flatMap(\.supertypes).map(\.identifier)
        let types = Set(found.texts("contentTypeTree") + names + supertypes)
        do throws(ItemRecordError) {
            return RecordReply(record: try found.encoded(), types: types.sorted())
        } catch {
            throw BusError.refused(.failed, "\(identifier) cannot be sent. \(error)")
        }
    }

    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] {
        let names = state.withLock { state in
            Set(state.items.keys).union(state.known.keys).filter { $0.index == scope.index }.map(\.identifier)
        }
        return IndexRequest.page(of: names, after: after, limit: limit)
    }

    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? {
        state.withLock { $0.states[scope.index ?? ""] }
    }
}
