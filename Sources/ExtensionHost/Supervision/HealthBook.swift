// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ServiceMessages
import Synchronization

/// The health records of all extensions. Each change is saved at once. May be used from any thread.
/// Changes are written on a separate queue, because the store may wait for other processes.
final class HealthBook: Sendable {
    private struct State {
        var all: [String: ExtensionHealth]
        /// The bundles whose changes could not be saved yet.
        var unsaved: Set<String> = []
    }
    /// Only changed on the queue, so that an older state never replaces a newer one. The lock is
    /// not held while the store is used.
    private let state: Mutex<State>
    private let changes = DispatchQueue(label: "com.searchlight.health", qos: .userInitiated)
    private let store: any HealthStore
    private let now: @Sendable () -> Double
    private let policy: HealthPolicy
    private let workerPath: String
    private let onChange: @Sendable () -> Void
    private let onItemsGivenBack: @Sendable (_ bundle: String, _ items: Set<String>) -> Bool

    /// Loads the records.
    ///
    /// - Parameters:
    ///   - store: The storage of the records.
    ///   - workerPath: The path of the worker program. If that program changes, the host counts as
    ///     changed.
    ///   - now: Returns the current time, in seconds since 2001-01-01 UTC.
    ///   - onItemsGivenBack: Called with skip-listed items before they are cleared because the
    ///     extension or the host has changed. Returns `true` if their reindex is now pending;
    ///     otherwise they are not cleared.
    ///   - onChange: Called after each change, without holding a lock.
    init(
        _ store: any HealthStore, workerPath: String, now: @escaping @Sendable () -> Double,
        policy: HealthPolicy = HealthPolicy(),
        onItemsGivenBack: @escaping @Sendable (_ bundle: String, _ items: Set<String>) -> Bool = { _, _ in
            true
        }, onChange: @escaping @Sendable () -> Void = {}
    ) {
        self.onChange = onChange
        self.onItemsGivenBack = onItemsGivenBack
        self.store = store
        self.now = now
        self.policy = policy
        self.workerPath = workerPath
        state = Mutex(State(all: store.load()))
    }

    /// The records of all bundles that have one.
    var all: [String: ExtensionHealth] { state.withLock { $0.all } }

    /// The record of a bundle.
    subscript(identifier: String) -> ExtensionHealth { state.withLock { $0.all[identifier] ?? ExtensionHealth() } }

    /// Throws if an extension may not receive a request now. If its files have changed, its record
    /// is cleared first.
    ///
    /// - Throws: ``ExtensionError/disabled(identifier:)``,
    ///   ``ExtensionError/quarantined(identifier:_:)`` or
    ///   ``ExtensionError/backingOff(identifier:_:last:)``.
    func admit(_ bundle: ExtensionBundle, _ origin: RequestOrigin) async throws(ExtensionError) {
        let identifier = bundle.identifier
        await meet(bundle)
        let health = self[identifier]
        switch health.refusal(origin, now: now(), policy: policy) {
        case nil: return
        case .disabled?: throw .disabled(identifier: identifier)
        case .quarantined(let quarantine)?: throw .quarantined(identifier: identifier, quarantine)
        case .backingOff(let backOff)?:
            throw .backingOff(identifier: identifier, backOff, last: health.failures.last?.summary)
        }
    }

    /// Checks an extension's files. If they have changed, its record is cleared.
    func meet(_ bundle: ExtensionBundle) async {
        let identifier = bundle.identifier
        let health = self[identifier]
        guard !health.isBlank else { return }
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        guard health.fingerprint != present else { return }
        // If the change cannot be saved, the next process clears the record again.
        _ = await change(identifier, meeting: present) {
            _ = $0.meet(present)
            return nil
        }
    }

    /// Records a failure.
    ///
    /// - Parameter onQuarantine: Called if this failure starts a quarantine.
    /// - Throws: ``HealthStoreError`` if the failure could not be saved. It still counts until this
    ///   process exits.
    func note(
        _ kind: ExtensionHealth.FailureKind, _ error: ExtensionError, of bundle: ExtensionBundle,
        onQuarantine: (ExtensionHealth.Quarantine) -> Void
    ) async throws(HealthStoreError) {
        let failure = ExtensionHealth.Failure(
            moment: now(), kind: kind, during: error.during ?? WorkerRequest.loadPurpose, exit: error.exit,
            lastOutput: error.lastOutput)
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        let (quarantine, problem) = await change(bundle.identifier, meeting: present) { [policy] in
            $0.note(failure, present, policy: policy)
        }
        if let quarantine { onQuarantine(quarantine) }
        if let problem { throw problem }
    }

    /// Records a success.
    func noteSuccess(of identifier: String) async throws(HealthStoreError) {
        guard self[identifier].backOff != nil else { return }
        try await keep(identifier) { $0.noteSuccess() }
    }

    /// Skip-lists items, each with a reason.
    func setAside(
        _ items: [(identifier: String, reason: String)], of bundle: ExtensionBundle
    ) async throws(HealthStoreError) {
        let moment = now()
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        try await keep(bundle.identifier, meeting: present) { health in
            health.setAside(
                items.map { .init(identifier: $0.identifier, reason: HealthLimits.cut($0.reason), since: moment) },
                present)
        }
    }

    /// Removes items that succeeded from the skip list; `nil` for all.
    func giveBack(_ items: Set<String>?, of identifier: String) async throws(HealthStoreError) {
        guard !self[identifier].itemsSetAside.isEmpty else { return }
        try await keep(identifier) { $0.giveBack(items) }
    }

    /// Disables or enables an extension.
    func setDisabled(_ isDisabled: Bool, _ identifier: String) async throws(HealthStoreError) {
        try await keep(identifier) { $0.isDisabled = isDisabled }
    }

    /// Clears everything that counts against an extension.
    ///
    /// - Returns: The record before the change.
    func release(_ identifier: String) async throws(HealthStoreError) -> ExtensionHealth {
        let before = self[identifier]
        try await keep(identifier) { $0.release() }
        return before
    }

    /// Changes a record like ``change(_:meeting:_:)``.
    private func keep(
        _ identifier: String, meeting present: BundleFingerprint? = nil,
        _ change: @escaping @Sendable (inout ExtensionHealth) -> Void
    ) async throws(HealthStoreError) {
        let (_, problem) = await self.change(identifier, meeting: present) {
            change(&$0)
            return nil
        }
        if let problem { throw problem }
    }

    /// Changes a record and saves it. A change that cannot be saved still applies in this process.
    ///
    /// - Parameter present: The current fingerprint of the extension, if the change records it.
    /// - Returns: The quarantine, if the change starts one, and the error if the change could not
    ///   be saved.
    private func change(
        _ identifier: String, meeting present: BundleFingerprint? = nil,
        _ change: @escaping @Sendable (inout ExtensionHealth) -> ExtensionHealth.Quarantine?
    ) async -> (quarantine: ExtensionHealth.Quarantine?, problem: HealthStoreError?) {
        await withCheckedContinuation { continuation in
            changes.async { [self] in
                let result = changeNow(identifier, present, change)
                onChange()
                continuation.resume(returning: result)
            }
        }
    }

    /// Changes a record on the queue.
    private func changeNow(
        _ identifier: String, _ present: BundleFingerprint?,
        _ change: (inout ExtensionHealth) -> ExtensionHealth.Quarantine?
    ) -> (quarantine: ExtensionHealth.Quarantine?, problem: HealthStoreError?) {
        var quarantine: ExtensionHealth.Quarantine?
        func apply(to all: inout [String: ExtensionHealth]) {
            var health = all[identifier] ?? ExtensionHealth()
            quarantine = change(&health)
            all[identifier] = health.isBlank ? nil : health
        }
        let (known, unsaved) = state.withLock { ($0.all, $0.unsaved) }
        var areItemsKept = true
        do throws(HealthStoreError) {
            let kept = try store.update { (kept) throws(HealthStoreError) in
                for name in unsaved { kept[name] = known[name] }
                areItemsKept = giveBackItems(of: kept[identifier], identifier, present)
                guard areItemsKept else {
                    throw HealthStoreError(path: identifier, reason: "its pending work cannot be stored now")
                }
                apply(to: &kept)
            }
            state.withLock { $0 = State(all: kept) }
            return (quarantine, nil)
        } catch {
            var all = known
            apply(to: &all)
            // If the items are not pending, the next change starts from the saved record, so that
            // it tries again to make them pending.
            let left = areItemsKept ? unsaved.union([identifier]) : unsaved
            state.withLock { $0 = State(all: all, unsaved: left) }
            return (quarantine, error)
        }
    }

    /// Makes the reindex of skip-listed items pending before they are cleared, because the
    /// extension has changed.
    private func giveBackItems(
        of health: ExtensionHealth?, _ identifier: String, _ present: BundleFingerprint?
    ) -> Bool {
        guard let health, let present, health.fingerprint != present, !health.itemsSetAside.isEmpty else { return true }
        return onItemsGivenBack(identifier, Set(health.itemsSetAside.map(\.identifier)))
    }
}
