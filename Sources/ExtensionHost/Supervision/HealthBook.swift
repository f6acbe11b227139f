// SPDX-License-Identifier: Apache-2.0
import ServiceProtocol
import Synchronization

/// What is known of all extensions, each change kept at once. May be used from any thread; a change writes a file.
final class HealthBook: Sendable {
    private struct State {
        var all: [String: ExtensionHealth]
        /// Whose changes could not be written yet.
        var unsaved: Set<String> = []
    }
    private let state: Mutex<State>
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
    func admit(_ bundle: ExtensionBundle, _ origin: RequestOrigin) throws(ExtensionError) {
        let identifier = bundle.identifier
        meet(bundle)
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
    func meet(_ bundle: ExtensionBundle) {
        let identifier = bundle.identifier
        let health = self[identifier]
        guard !health.isBlank else { return }
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        guard health.fingerprint != present else { return }
        // What cannot be written now is forgotten anew by the next process.
        try? change(identifier, meeting: present) { _ = $0.meet(present) }
    }

    /// Notes a failure.
    ///
    /// - Parameter onQuarantine: Told if a quarantine begins with this failure.
    /// - Throws: ``HealthStoreError``; the failure counts all the same, for as long as this process lives.
    func note(
        _ kind: ExtensionHealth.FailureKind, _ error: ExtensionError, of bundle: ExtensionBundle,
        onQuarantine: (ExtensionHealth.Quarantine) -> Void
    ) throws(HealthStoreError) {
        let failure = ExtensionHealth.Failure(
            moment: now(), kind: kind, during: error.during ?? WorkerRequest.loadPurpose, exit: error.exit,
            lastOutput: error.lastOutput)
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        var quarantine: ExtensionHealth.Quarantine?
        defer { if let quarantine { onQuarantine(quarantine) } }
        try change(bundle.identifier, meeting: present) { quarantine = $0.note(failure, present, policy: policy) }
    }

    /// Notes that a request went well.
    func noteSuccess(of identifier: String) throws(HealthStoreError) {
        guard self[identifier].backOff != nil else { return }
        try change(identifier) { $0.noteSuccess() }
    }

    /// Sets items aside, each with what happened.
    func setAside(_ items: [(identifier: String, reason: String)], of bundle: ExtensionBundle) throws(HealthStoreError)
    {
        let moment = now()
        let present = BundleFingerprint(bundle, workerPath: workerPath)
        try change(bundle.identifier, meeting: present) { health in
            health.setAside(
                items.map { .init(identifier: $0.identifier, reason: HealthLimits.cut($0.reason), since: moment) },
                present)
        }
    }

    /// Notes that items did no harm; `nil` for all.
    func giveBack(_ items: Set<String>?, of identifier: String) throws(HealthStoreError) {
        guard !self[identifier].itemsSetAside.isEmpty else { return }
        try change(identifier) { $0.giveBack(items) }
    }

    /// Has an extension used, or not.
    func setDisabled(_ isDisabled: Bool, _ identifier: String) throws(HealthStoreError) {
        try change(identifier) { $0.isDisabled = isDisabled }
    }

    /// Forgets what is held against an extension.
    ///
    /// - Returns: What was known of it before.
    func release(_ identifier: String) throws(HealthStoreError) -> ExtensionHealth {
        let before = self[identifier]
        try change(identifier) { $0.release() }
        return before
    }

    /// Changes what is known, and keeps it. A change that cannot be written holds in this process all the same.
    ///
    /// - Parameter present: What is there of the extension now, if the change takes note of it.
    private func change(
        _ identifier: String, meeting present: BundleFingerprint? = nil, _ change: (inout ExtensionHealth) -> Void
    ) throws(HealthStoreError) {
        func apply(to all: inout [String: ExtensionHealth]) {
            var health = all[identifier] ?? ExtensionHealth()
            change(&health)
            all[identifier] = health.isBlank ? nil : health
        }
        let problem: HealthStoreError? = state.withLock { state in
            // Under the lock, so that an older state never replaces a newer one.
            var areItemsKept = true
            do throws(HealthStoreError) {
                let (known, unsaved) = (state.all, state.unsaved)
                state.all = try store.update { (kept) throws(HealthStoreError) in
                    for name in unsaved { kept[name] = known[name] }
                    areItemsKept = giveBackItems(of: kept[identifier], identifier, present)
                    guard areItemsKept else {
                        throw HealthStoreError(path: identifier, reason: "what it owes cannot be written down now")
                    }
                    apply(to: &kept)
                }
                state.unsaved = []
                return nil
            } catch {
                apply(to: &state.all)
                // Otherwise the next change begins with what is kept, so that the items are given back then.
                if areItemsKept { state.unsaved.insert(identifier) }
                return error
            }
        }
        onChange()
        if let problem { throw problem }
    }

    /// Sees to it that items are owed which are about to be forgotten, since the extension is another.
    private func giveBackItems(
        of health: ExtensionHealth?, _ identifier: String, _ present: BundleFingerprint?
    ) -> Bool {
        guard let health, let present, health.fingerprint != present, !health.itemsSetAside.isEmpty else { return true }
        return onItemsGivenBack(identifier, Set(health.itemsSetAside.map(\.identifier)))
    }
}
