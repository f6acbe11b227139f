// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import IdleScheduling

extension SearchlightEngine {
    /// Returns an extension's health record, which is blank if nothing was recorded.
    package func health(of identifier: String) -> ExtensionHealth { host.health(of: identifier) }

    /// Returns an extension's skip-listed items. They are not requested until the extension changes
    /// or is released.
    package func itemsSetAside(of identifier: String) -> [ExtensionHealth.ItemSetAside] {
        host.health(of: identifier).itemsSetAside
    }

    /// Enables or disables an extension. Its items are kept, and its pending work waits until it is
    /// enabled again. Requests to its app are not affected.
    ///
    /// - Throws: ``EngineError`` if the extension is neither installed nor known, or if the write
    ///   fails. After a failed write, the change still applies until this process exits.
    package func setEnabled(_ isEnabled: Bool, _ identifier: String) async throws(EngineError) {
        try checkKnown(identifier)
        // If the write fails, the change still applies in memory.
        try await onHealth { (host) throws(HealthStoreError) in try await host.setDisabled(!isEnabled, identifier) }
    }

    /// Clears an extension's failures, so that it is used as if it had never failed. Its
    /// skip-listed items become pending.
    ///
    /// - Returns: The health record before the call.
    /// - Throws: ``EngineError``, like ``setEnabled(_:_:)``.
    @discardableResult
    package func release(_ identifier: String) async throws(EngineError) -> ExtensionHealth {
        try checkKnown(identifier)
        let items = Set(host.health(of: identifier).itemsSetAside.map(\.identifier))
        if !items.isEmpty {
            // The job is recorded before the skip list is cleared, so that a crash in between loses
            // no item.
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

    /// Throws if an identifier is neither installed nor has a health record, because it is then
    /// probably misspelt.
    private func checkKnown(_ identifier: String) throws(EngineError) {
        guard host.health(of: identifier).isBlank else { return }
        _ = try bundle(identifier)
    }

    private func onHealth(_ body: (ExtensionHost) async throws(HealthStoreError) -> Void) async throws(EngineError) {
        do throws(HealthStoreError) { try await body(host) } catch {
            throw .storeFile(
                path: error.path, operation: "Writing the health of extensions to", detail: error.reason)
        }
    }

    /// Records a pending job. For this, a read-only engine takes the store's write lock, if no
    /// other process holds it.
    ///
    /// - Returns: `true` if the job was recorded or a reindex of everything is pending anyway.
    static func owe(_ job: Job, in jobs: JobStore, _ configuration: EngineConfiguration) -> Bool {
        guard configuration.access == .readOnly else {
            return (try? jobs.update { $0.add(job) }) != nil
        }
        guard let lock = try? StoreLock(directory: configuration.storeDirectory) else { return false }
        defer { lock.release() }
        let present = JobStore(directory: configuration.storeDirectory)
        // The next process that opens the store for writing records a reindex of every bundle.
        if present.wasMissing || present.wasDamaged { return true }
        return (try? present.update { $0.add(job) }) != nil
    }
}
