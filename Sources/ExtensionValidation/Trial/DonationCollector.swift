// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import ItemRecord
import ServiceMessages
import Synchronization
import UniformTypeIdentifiers

/// An in-memory index for an extension's donations. The user's store is never used.
///
/// Expiration dates and relations between items are ignored.
final class DonationCollector: DonationReceiver {
    /// The name of an item.
    struct Name: Hashable, Comparable, Sendable {
        /// The index; `nil` for the default index.
        var index: String?
        var identifier: String

        static func < (one: Name, other: Name) -> Bool {
            (one.index ?? "", one.identifier) < (other.index ?? "", other.identifier)
        }
    }

    private struct State {
        var items: [Name: ItemRecord] = [:]
        /// Items from an earlier reindex that the extension finds in its index; not included in
        /// ``items``.
        var known: [Name: ItemRecord]
        var touched: Set<String> = []
        var states: [String: [UInt8]] = [:]
        var donations = 0
        var donatedItems = 0
        /// The total size of the records in ``items``, in bytes; ``sizes`` has the size of each.
        var bytes = 0
        var sizes: [Name: Int] = [:]
        var unkept: Set<Name> = []
        var lastNotice: Duration?

        /// Stores an item, or counts it as not kept if it would exceed a limit.
        mutating func keep(_ item: ItemRecord, _ name: Name, size: Int, limits: Limits) {
            let former = items[name] == nil ? nil : sizes[name]
            guard former != nil || items.count < limits.items, bytes - (former ?? 0) + size <= limits.bytes else {
                if unkept.count < limits.items { unkept.insert(name) }
                return
            }
            bytes += size - (former ?? 0)
            (items[name], sizes[name]) = (item, size)
        }

        /// Removes the sizes of removed items, and recomputes ``bytes``.
        mutating func forgetSizes() {
            sizes = sizes.filter { items[$0.key] != nil }
            bytes = sizes.values.reduce(0, +)
        }
    }
    private let state: Mutex<State>
    private let limits: Limits
    private let elapsed: @Sendable () -> Duration
    private let onItems: @Sendable (Int) -> Void
    private static let noticeInterval = Duration.milliseconds(200)

    /// The limits of the index. Donations that exceed them are accepted, as in a real index, but
    /// not stored.
    struct Limits: Sendable {
        /// The maximum number of items.
        var items = 200_000
        /// The maximum total size of all records, in bytes.
        var bytes = 512 << 20
    }

    /// Creates an index.
    ///
    /// - Parameters:
    ///   - known: Items from an earlier reindex. The extension finds them in its index, as if it
    ///     had been filled before its process started. ``items`` contains only donations from now
    ///     on.
    ///   - limits: The limits of the index.
    ///   - clock: The clock for the interval between calls to `onItems`.
    ///   - onItems: Called with the number of donated items, a few times a second, on any thread.
    init(
        known: [Name: ItemRecord] = [:], limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
        onItems: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        state = Mutex(State(known: known))
        self.limits = limits
        elapsed = stopwatch(clock)
        self.onItems = onItems
    }

    /// The number of donated items that were not stored because of the limits.
    var unkept: Int { state.withLock { $0.unkept.count } }

    var items: [Name: ItemRecord] { state.withLock { $0.items } }

    /// The identifiers that were donated or deleted by name since the last
    /// ``beginAnew(keepingItems:)``.
    var touched: Set<String> { state.withLock { $0.touched } }

    /// Returns `true` if an item from an earlier reindex still exists.
    func stillKnows(_ name: Name) -> Bool { state.withLock { $0.known[name] != nil } }

    /// Clears the index, as if it had been lost; or clears only ``touched``.
    func beginAnew(keepingItems: Bool = false) {
        state.withLock { state in
            state.touched = []
            guard !keepingItems else { return }
            (state.items, state.known, state.states) = ([:], [:], [:])
            state.unkept = []
            state.forgetSizes()
        }
    }

    var count: Int { state.withLock { $0.items.count } }

    /// The number of donations and deletions.
    var donations: Int { state.withLock { $0.donations } }

    /// The number of donated items, including repeated ones.
    var donatedItems: Int { state.withLock { $0.donatedItems } }

    func receive(_ batch: IndexBatch) async throws(BusError) {
        let moment = elapsed()
        let limits = limits
        let (refusal, donated) = state.withLock { state -> (BusError?, Int?) in
            let key = batch.scope.index ?? ""
            if case .exactly(let expected) = batch.expectation, state.states[key] != expected {
                let refusal = BusError.remote(
                    name: ServiceErrorName.mismatchedClientState, message: "The client state is different.")
                return (refusal, nil)
            }
            state.donations += 1
            state.donatedItems += batch.itemCount
            var sizes = batch.records.map(\.count)[...]
            for change in batch.decodedChanges { Self.apply(change, batch.scope.index, limits, &sizes, &state) }
            if let clientState = batch.clientState { state.states[key] = clientState }
            guard state.donatedItems > 0, state.lastNotice.map({ moment - $0 >= Self.noticeInterval }) ?? true else {
                return (nil, nil)
            }
            state.lastNotice = moment
            return (nil, state.donatedItems)
        }
        if let donated { onItems(donated) }
        if let refusal { throw refusal }
    }

    /// Applies a change to the index.
    ///
    /// - Parameter sizes: The sizes of the records that have not been applied yet, in bytes.
    private static func apply(
        _ change: IndexChange<[ItemRecord]>, _ index: String?, _ limits: Limits, _ sizes: inout ArraySlice<Int>,
        _ state: inout State
    ) {
        switch change {
        case .put(let items):
            for item in items {
                let size = sizes.popFirst() ?? 0
                let name = Name(index: index, identifier: item.uniqueIdentifier)
                state.touched.insert(item.uniqueIdentifier)
                if item.isUpdate {
                    // As in a real index, an update of an item that does not exist is ignored.
                    guard var stored = state.items[name] else { continue }
                    for (key, value) in item.attributes { stored.attributes[key] = value == .null ? nil : value }
                    // Updates add attributes, so the item may be larger than its largest donation.
                    let whole = (try? stored.encoded().count) ?? (state.sizes[name] ?? 0) + size
                    state.keep(stored, name, size: whole, limits: limits)
                } else {
                    state.keep(item, name, size: size, limits: limits)
                }
            }
        case .deleteItems(let identifiers):
            for identifier in identifiers {
                state.touched.insert(identifier)
                let name = Name(index: index, identifier: identifier)
                (state.items[name], state.known[name]) = (nil, nil)
                state.bytes -= state.sizes.removeValue(forKey: name) ?? 0
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
            state.forgetSizes()
        case .deleteAll:
            state.items = state.items.filter { $0.key.index != index }
            state.known = state.known.filter { $0.key.index != index }
            state.states[index ?? ""] = nil
            state.forgetSizes()
        case .renameItems(let renames):
            let key = { Name(index: index, identifier: $0) }
            // Like any other item, one from an earlier reindex replaces a donated item.
            let replaced = renames.effective.filter {
                state.items[key($0.identifier)] == nil && state.known[key($0.identifier)] != nil
            }
            for rename in renames.effective { state.touched.formUnion([rename.identifier, rename.newIdentifier]) }
            renames.apply(to: &state.items, key: key) { $0.uniqueIdentifier = $1 }
            for rename in replaced { state.items[key(rename.newIdentifier)] = nil }
            renames.apply(to: &state.known, key: key) { $0.uniqueIdentifier = $1 }
            let sizes = state.sizes
            for rename in renames.effective {
                state.sizes[key(rename.newIdentifier)] = sizes[key(rename.identifier)]
            }
            state.forgetSizes()
        }
    }

    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        let found: ItemRecord? = state.withLock { state in
            // Searches the bundle's default index first, then its named indexes, as the index does.
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
