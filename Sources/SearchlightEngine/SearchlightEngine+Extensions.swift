// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling

extension SearchlightEngine {
    /// What is known of the behaviour of an extension; blank if nothing is.
    package func health(of identifier: String) -> ExtensionHealth { host.health(of: identifier) }

    /// The items with which an extension fails, and that are not asked for until it changes or is released.
    package func itemsSetAside(of identifier: String) -> [ExtensionHealth.ItemSetAside] {
        host.health(of: identifier).itemsSetAside
    }

    /// Has an extension used, or not any more. Its items stay; what it owes, it owes until it is used again. Its app is asked
    /// all the same.
    ///
    /// - Throws: ``EngineError``: of an extension that is neither there nor known, or when it cannot be written down; then it
    ///   holds for as long as this process lives.
    package func setEnabled(_ isEnabled: Bool, _ identifier: String) async throws(EngineError) {
        try checkKnown(identifier)
        // It holds also where it cannot be written down.
        try await onHealth { (host) throws(HealthStoreError) in try await host.setDisabled(!isEnabled, identifier) }
    }

    /// Forgets what is held against an extension: it is asked again as if nothing had happened. Items that were set aside are
    /// owed from now on.
    ///
    /// - Returns: What was known of it before.
    /// - Throws: ``EngineError``, as ``setEnabled(_:_:)`` does.
    @discardableResult
    package func release(_ identifier: String) async throws(EngineError) -> ExtensionHealth {
        try checkKnown(identifier)
        let items = Set(host.health(of: identifier).itemsSetAside.map(\.identifier))
        if !items.isEmpty {
            // Before they are forgotten, so that no crash comes between.
            let job = Job(
                bundle: identifier, work: .reindexItems(items), requested: configuration.now(), cause: .givenBack)
            try jobStore.update { $0.add(job) }
        }
        var before = ExtensionHealth()
        try await onHealth { (host) throws(HealthStoreError) in before = try await host.release(identifier) }
        try jobStore.update { $0.forgive(bundle: identifier) }
        return before
    }

    /// See ``PrewarmCall``.
    package func prewarm(_ identifier: String) async {
        guard !delegates.isRegistered(for: identifier) else { return }
        await host.prewarm(identifier)
    }

    /// A name that nothing is known of is a slip.
    private func checkKnown(_ identifier: String) throws(EngineError) {
        guard host.health(of: identifier).isBlank else { return }
        _ = try bundle(identifier)
    }

    private func onHealth(_ body: (ExtensionHost) async throws(HealthStoreError) -> Void) async throws(EngineError) {
        do throws(HealthStoreError) { try await body(host) } catch {
            throw .storeFile(
                path: error.path, operation: "Writing how extensions behave to", detail: error.reason)
        }
    }

    /// Writes down what is owed, also for an engine that only reads the store and so becomes the one who changes it for a
    /// moment, if nobody else is.
    ///
    /// - Returns: Whether that was done, or everything is owed anyway.
    static func owe(_ job: Job, in jobs: JobStore, _ configuration: EngineConfiguration) -> Bool {
        guard configuration.access == .readOnly else {
            return (try? jobs.update { $0.add(job) }) != nil
        }
        guard let lock = try? StoreLock(directory: configuration.storeDirectory) else { return false }
        defer { lock.release() }
        let present = JobStore(directory: configuration.storeDirectory)
        // Whoever opens the store next owes everything for that.
        if present.wasMissing || present.wasDamaged { return true }
        return (try? present.update { $0.add(job) }) != nil
    }
}
