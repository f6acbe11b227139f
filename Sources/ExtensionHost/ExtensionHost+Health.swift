// SPDX-License-Identifier: Apache-2.0

extension ExtensionHost {
    /// The health records of all extensions that have one, by bundle identifier.
    public nonisolated var health: [String: ExtensionHealth] { book.all }

    /// Returns the health record of an extension.
    public nonisolated func health(of identifier: String) -> ExtensionHealth { book[identifier] }

    /// Disables or enables an extension. Requests in progress finish. The bundle's app still
    /// receives requests as a delegate.
    ///
    /// - Throws: ``HealthStoreError`` if the change could not be saved. The change still applies
    ///   until this process exits.
    public func setDisabled(_ isDisabled: Bool, _ identifier: String) async throws(HealthStoreError) {
        var problem: HealthStoreError?
        do throws(HealthStoreError) { try await book.setDisabled(isDisabled, identifier) } catch { problem = error }
        if isDisabled { await pool.retire(identifier) }
        if let problem { throw problem }
    }

    /// Clears an extension's quarantine, back-off and skip-listed items. From now on the extension
    /// is treated as if it had never failed, unless it is disabled.
    ///
    /// - Returns: The health record before the change.
    /// - Throws: ``HealthStoreError`` if the change could not be saved. The change still applies
    ///   until this process exits.
    @discardableResult
    public func release(_ identifier: String) async throws(HealthStoreError) -> ExtensionHealth {
        try await book.release(identifier)
    }

    /// Starts an extension's worker for an expected interactive request. Does not wait until the
    /// worker is ready. If the worker fails to start, the first request throws the error.
    public func prewarm(_ identifier: String) async {
        guard let bundle = try? registry.bundle(identifier), (try? await book.admit(bundle, .person)) != nil,
            let lease = try? await pool.lease(bundle, .person)
        else { return }
        await pool.giveBack(lease, isUsable: true)
    }

    package var workerCount: Int { get async { await pool.count } }
}
