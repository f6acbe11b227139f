// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import SearchIndex
import Synchronization

/// The reindexes in progress, the donor that each of them requests items from, and other donors'
/// donations.
///
/// During a reindex of everything, if the requested donor deletes everything, the items are only
/// marked. When that donor acknowledges the request, the marked items that it did not donate again
/// are deleted. An app may donate over another connection during the reindex without knowing about
/// it. The app's donations are always kept, as if the reindex had begun after them. If the app
/// deletes everything, the deletion takes effect immediately, as at any other time: the user may
/// have signed out. The reindex then becomes pending again, since the deletion may have removed
/// items that were donated for it.
final class Reindexes: Sendable {
    /// The names of items that are kept because another donor donated them. Above the limits, all
    /// items are kept.
    struct Kept: Sendable {
        static let maximum = 100_000
        static let maximumBytes = 16 << 20

        /// The names by index.
        private(set) var names: [String?: Set<String>] = [:]
        private(set) var isTooMuch = false
        private var count = 0
        private var bytes = 0

        mutating func add(_ identifiers: [String], index: String?) {
            for name in identifiers where !isTooMuch && names[index, default: []].insert(name).inserted {
                count += 1
                bytes += name.utf8.count
                isTooMuch = count > Self.maximum || bytes > Self.maximumBytes
            }
            if isTooMuch { names = [:] }
        }
    }
    private struct Reindex {
        /// `true` if the reindex replaces everything.
        var isReplacement = false
        var asked: Donor?
        var kept = Kept()
        /// `true` if items that were donated for the reindex may be deleted.
        var isUndone = false
        /// The first store error that rejected one of the requested donor's donations.
        var storeError: SearchIndexError?
    }
    private struct State {
        var reindexes: [String: Reindex] = [:]
        /// The batches that are being made durable. A reindex that begins while they are written
        /// needs their names.
        var donations: [UInt64: (batch: IndexBatch, donor: Donor)] = [:]
        var last: UInt64 = 0
        /// The delegates that did not reply to a reindex of everything. They may still start it at
        /// any time.
        var late: Set<DelegateToken> = []
    }
    private let state = Mutex(State())
    private let delegates: LiveDelegates

    init(delegates: LiveDelegates) { self.delegates = delegates }

    /// Begins a bundle's reindex; `false` if one is in progress.
    func begin(_ bundle: String) -> Bool {
        state.withLock { state in
            guard state.reindexes[bundle] == nil else { return false }
            state.reindexes[bundle] = Reindex()
            return true
        }
    }

    /// Returns `true` if a bundle is being reindexed or forgotten.
    func isUnderWay(_ bundle: String) -> Bool { state.withLock { $0.reindexes[bundle] != nil } }

    /// Marks a bundle's reindex as a replacement of everything.
    func replace(_ bundle: String) {
        let batches = state.withLock { state in
            state.reindexes[bundle]?.isReplacement = true
            return state.donations.values.map(\.batch).filter { $0.scope.bundle == bundle }
        }
        for batch in batches { keep(batch) }
    }

    /// Sets the donor that the reindex requests items from; `nil` once the donor has acknowledged.
    func ask(_ donor: Donor?, _ bundle: String) {
        let before = state.withLock { state in
            if case .delegate(let token)? = donor { state.late.remove(token) }
            defer { state.reindexes[bundle]?.asked = donor }
            return state.reindexes[bundle]?.asked
        }
        if donor != nil { noteLate(before) }
    }

    /// Returns the donor that a bundle's reindex requests items from.
    func asked(_ bundle: String) -> Donor? { state.withLock { $0.reindexes[bundle]?.asked } }

    func end(_ bundle: String) {
        noteLate(state.withLock { $0.reindexes.removeValue(forKey: bundle)?.asked })
    }

    private func noteLate(_ donor: Donor?) {
        guard case .delegate(let token)? = donor else { return }
        state.withLock { _ = $0.late.insert(token) }
        // If the delegate is unregistered later, `unregisterDelegate` removes the token.
        if !delegates.isRegistered(token) { forget(token) }
    }

    func forget(_ token: DelegateToken) { state.withLock { _ = $0.late.remove(token) } }

    /// Returns `true` if a reindex of the bundle may be requesting items from this delegate. The
    /// requested donor is only known for a reindex of everything.
    func mayBeAsked(_ token: DelegateToken, _ bundle: String) -> Bool {
        state.withLock { state in
            guard let reindex = state.reindexes[bundle] else { return false }
            return reindex.asked == nil || reindex.asked == .delegate(token)
        }
    }

    /// Returns the names of items that other donors donated during the reindex.
    func kept(_ bundle: String) -> Kept { state.withLock { $0.reindexes[bundle]?.kept ?? Kept() } }

    /// Returns `true` if a “delete all” by this donor only marks the items.
    func marks(_ donor: Donor, _ bundle: String) -> Bool {
        state.withLock { state in
            guard let reindex = state.reindexes[bundle] else { return false }
            return reindex.isReplacement && reindex.asked == donor
        }
    }

    /// Returns `true` if a “delete all” by this donor may remove items that were donated for a
    /// reindex. The reindex is then recorded as undone.
    func undoes(_ donor: Donor, _ bundle: String) -> Bool {
        state.withLock { state in
            if case .delegate(let token) = donor, state.late.contains(token) {
                state.reindexes[bundle]?.isUndone = true
                return true
            }
            guard let reindex = state.reindexes[bundle], let asked = reindex.asked else { return false }
            guard reindex.isReplacement, asked != donor else { return false }
            state.reindexes[bundle]?.isUndone = true
            return true
        }
    }

    /// Returns `true` if another donor deleted items that were donated for a bundle's reindex.
    /// Resuming the reindex would not restore them.
    func isUndone(_ bundle: String) -> Bool { state.withLock { $0.reindexes[bundle]?.isUndone == true } }

    /// Records that the store rejected a donation during a reindex of its bundle.
    func noteRefusal(_ error: SearchIndexError, of donor: Donor, _ bundle: String) {
        guard error.isOfStore else { return }
        state.withLock { state in
            guard let reindex = state.reindexes[bundle], reindex.storeError == nil else { return }
            guard reindex.asked == nil || reindex.asked == donor else { return }
            state.reindexes[bundle]?.storeError = error
        }
    }

    /// Returns the store error that made a bundle's reindex fail; `nil` if the store rejected
    /// nothing.
    func storeError(_ bundle: String) -> SearchIndexError? { state.withLock { $0.reindexes[bundle]?.storeError } }

    /// Records a donation before it is made durable.
    ///
    /// - Returns: The donation's number, for ``finish(_:)``.
    func begin(_ batch: IndexBatch, from donor: Donor) -> UInt64 {
        let (number, mustKeep) = state.withLock { state -> (UInt64, Bool) in
            state.last += 1
            state.donations[state.last] = (batch, donor)
            guard let reindex = state.reindexes[batch.scope.bundle] else { return (state.last, false) }
            return (state.last, reindex.isReplacement && reindex.asked != donor)
        }
        if mustKeep { keep(batch) }
        return number
    }

    /// Removes a donation after its commit succeeded or failed.
    func finish(_ donation: UInt64) { state.withLock { $0.donations[donation] = nil } }

    private func keep(_ batch: IndexBatch) {
        let identifiers = batch.itemIdentifiers
        state.withLock { $0.reindexes[batch.scope.bundle]?.kept.add(identifiers, index: batch.scope.index) }
    }
}
