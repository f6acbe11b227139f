// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import Synchronization

/// The bundles that are being reindexed, who is asked for it, and what of other donors must outlive it.
///
/// While everything of a bundle is replaced, a deletion of everything by the one who is asked is a mark: what it has not
/// donated again when it acknowledges is deleted then. An app may donate meanwhile over another connection, knowing
/// nothing of that. What it donates stays in any case, as if the reindex had begun after it. When it deletes everything,
/// that is done at once, as it would be at any other time: somebody may have signed out. The reindex is then owed once
/// more, since it may have lost what it had brought until then.
final class Reindexes: Sendable {
    /// The names of items that are kept because others donated them; of more, all items are.
    struct Kept: Sendable {
        static let maximum = 100_000
        static let maximumBytes = 16 << 20

        /// By index.
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
        /// Whether everything is replaced.
        var isReplacement = false
        var asked: Donor?
        var kept = Kept()
        /// Whether what it has brought may be gone.
        var isUndone = false
    }
    private struct State {
        var reindexes: [String: Reindex] = [:]
        /// What is being made durable, so that a reindex that begins meanwhile knows of it.
        var donations: [UInt64: (batch: IndexBatch, donor: Donor)] = [:]
        var last: UInt64 = 0
        /// Delegates that did not answer a reindex of everything. They may begin with it at any time.
        var late: Set<DelegateToken> = []
    }
    private let state = Mutex(State())
    private let delegates: LiveDelegates

    init(delegates: LiveDelegates) { self.delegates = delegates }

    /// Begins a reindex of a bundle; `false` if one has begun already.
    func begin(_ bundle: String) -> Bool {
        state.withLock { state in
            guard state.reindexes[bundle] == nil else { return false }
            state.reindexes[bundle] = Reindex()
            return true
        }
    }

    /// Whether a bundle is being reindexed, or forgotten.
    func isUnderWay(_ bundle: String) -> Bool { state.withLock { $0.reindexes[bundle] != nil } }

    /// Says that the reindex replaces everything.
    func replace(_ bundle: String) {
        let batches = state.withLock { state in
            state.reindexes[bundle]?.isReplacement = true
            return state.donations.values.map(\.batch).filter { $0.scope.bundle == bundle }
        }
        for batch in batches { keep(batch) }
    }

    /// Says who is asked from now on; `nil` once it was acknowledged.
    func ask(_ donor: Donor?, _ bundle: String) {
        let before = state.withLock { state in
            if case .delegate(let token)? = donor { state.late.remove(token) }
            defer { state.reindexes[bundle]?.asked = donor }
            return state.reindexes[bundle]?.asked
        }
        if donor != nil { noteLate(before) }
    }

    func end(_ bundle: String) {
        noteLate(state.withLock { $0.reindexes.removeValue(forKey: bundle)?.asked })
    }

    private func noteLate(_ donor: Donor?) {
        guard case .delegate(let token)? = donor else { return }
        state.withLock { _ = $0.late.insert(token) }
        // Whoever unregisters it forgets it after that.
        if !delegates.isRegistered(token) { forget(token) }
    }

    func forget(_ token: DelegateToken) { state.withLock { _ = $0.late.remove(token) } }

    /// Whether this delegate may be the one who is asked: only of a reindex of everything is it noted who that is.
    func mayBeAsked(_ token: DelegateToken, _ bundle: String) -> Bool {
        state.withLock { state in
            guard let reindex = state.reindexes[bundle] else { return false }
            return reindex.asked == nil || reindex.asked == .delegate(token)
        }
    }

    /// What others than those who were asked have donated.
    func kept(_ bundle: String) -> Kept { state.withLock { $0.reindexes[bundle]?.kept ?? Kept() } }

    /// Whether a deletion of everything by this donor is a mark.
    func marks(_ donor: Donor, _ bundle: String) -> Bool {
        state.withLock { state in
            guard let reindex = state.reindexes[bundle] else { return false }
            return reindex.isReplacement && reindex.asked == donor
        }
    }

    /// Whether a deletion of everything by this donor may take away what a reindex has brought; that is noted.
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

    /// Whether somebody has deleted what the reindex of a bundle had brought, so that going on later would not bring it back.
    func isUndone(_ bundle: String) -> Bool { state.withLock { $0.reindexes[bundle]?.isUndone == true } }

    /// Notes a donation before it is made durable.
    ///
    /// - Returns: What ``finish(_:)`` is told.
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

    /// Forgets a donation that was made durable, or was not.
    func finish(_ donation: UInt64) { state.withLock { $0.donations[donation] = nil } }

    private func keep(_ batch: IndexBatch) {
        let identifiers = batch.itemIdentifiers
        state.withLock { $0.reindexes[batch.scope.bundle]?.kept.add(identifiers, index: batch.scope.index) }
    }
}
