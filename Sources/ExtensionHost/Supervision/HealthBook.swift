// SPDX-License-Identifier: Apache-2.0
import Dispatch
import ServiceMessages
import Synchronization

/// What is known of all extensions, each change kept at once. May be used from any thread; a change writes a file, on a queue
/// of its own: the store may wait for other processes.
final class HealthBook: Sendable {
    private struct State {
        var all: [String: ExtensionHealth]
        /// Whose changes could not be written yet.
        var unsaved: Set<String> = []
    }
    /// Changed on the queue alone, so that an older state never replaces a newer one; not locked while the store is asked.
    private let state: Mutex<State>
    private let changes = DispatchQueue(label: "com.searchlight.health", qos: .userInitiated)
    private let store: any HealthStore
    private let now: @Sendable () -> Double
    private let policy: HealthPolicy
    private let workerPath: String
    private let onChange: @Sendable () -> Void
    private let onItemsGivenBack: @Sendable (_ bundle: String, _ items: Set<String>) -> Bool

    /// - Parameters:
    ///   - store: Where it is kept.
    ///   - workerPath: The program of the workers; a change of it is one of the host.
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    ///   - onItemsGivenBack: Told of items set aside, before they are forgotten since the extension or the host has changed.
    ///     Says whether they are owed from now on; if not, they are not forgotten.
    ///   - onChange: Told of each change once it is made; holds no lock of this.
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

    /// What is known of all bundles of which anything is.
    var all: [String: ExtensionHealth] { state.withLock { $0.all } }

    /// What is known of a bundle.
    subscript(identifier: String) -> ExtensionHealth { state.withLock { $0.all[identifier] ?? ExtensionHealth() } }

    /// Looks whether an extension may be asked now. If its files have changed, what was held against it is forgotten.
    ///
    /// - Throws: ``ExtensionError/disabled(identifier:)``, ``ExtensionError/quarantined(identifier:_:)``,
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

    /// Looks at the files of an extension. If they have changed, what was held against it is forgotten.
    func meet(_ bundle: ExtensionBundle) async {
        let identifier = bundle.identifier
        let health = self[identifier]
        guard !health.isBlank else { return }
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        guard health.fingerprint != present else { return }
        // What cannot be written now is forgotten anew by the next process.
        _ = await change(identifier, meeting: present) {
            _ = $0.meet(present)
            return nil
        }
    }

    /// Notes a failure.
    ///
    /// - Parameter onQuarantine: Told if a quarantine begins with this failure.
    /// - Throws: ``HealthStoreError``; the failure counts all the same, for as long as this process lives.
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

    /// Notes that a request went well.
    func noteSuccess(of identifier: String) async throws(HealthStoreError) {
        guard self[identifier].backOff != nil else { return }
        try await keep(identifier) { $0.noteSuccess() }
    }

    /// Sets items aside, each with what happened.
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

    /// Notes that items did no harm; `nil` for all.
    func giveBack(_ items: Set<String>?, of identifier: String) async throws(HealthStoreError) {
        guard !self[identifier].itemsSetAside.isEmpty else { return }
        try await keep(identifier) { $0.giveBack(items) }
    }

    /// Has an extension used, or not.
    func setDisabled(_ isDisabled: Bool, _ identifier: String) async throws(HealthStoreError) {
        try await keep(identifier) { $0.isDisabled = isDisabled }
    }

    /// Forgets what is held against an extension.
    ///
    /// - Returns: What was known of it before.
    func release(_ identifier: String) async throws(HealthStoreError) -> ExtensionHealth {
        let before = self[identifier]
        try await keep(identifier) { $0.release() }
        return before
    }

    /// Changes what is known, as ``change(_:meeting:_:)`` does.
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

    /// Changes what is known, and keeps it. A change that cannot be written holds in this process all the same.
    ///
    /// - Parameter present: What is there of the extension now, if the change takes note of it.
    /// - Returns: The quarantine that begins with it, and why it could not be kept.
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

    /// The same on the queue.
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
                    throw HealthStoreError(path: identifier, reason: "what it owes cannot be written down now")
                }
                apply(to: &kept)
            }
            state.withLock { $0 = State(all: kept) }
            return (quarantine, nil)
        } catch {
            var all = known
            apply(to: &all)
            // Otherwise the next change begins with what is kept, so that the items are given back then.
            let left = areItemsKept ? unsaved.union([identifier]) : unsaved
            state.withLock { $0 = State(all: all, unsaved: left) }
            return (quarantine, error)
        }
    }

    /// Sees to it that items are owed which are about to be forgotten, since the extension is another.
    private func giveBackItems(
        of health: ExtensionHealth?, _ identifier: String, _ present: BundleFingerprint?
    ) -> Bool {
        guard let health, let present, health.fingerprint != present, !health.itemsSetAside.isEmpty else { return true }
        return onItemsGivenBack(identifier, Set(health.itemsSetAside.map(\.identifier)))
    }
}
