// SPDX-License-Identifier: Apache-2.0

extension ExtensionHost {
    /// What is known of the behaviour of all extensions of which anything is, by bundle identifier.
    public nonisolated var health: [String: ExtensionHealth] { book.all }

    /// What is known of the behaviour of an extension.
    public nonisolated func health(of identifier: String) -> ExtensionHealth { book[identifier] }

    /// Has an extension used, or not any more. What it is doing is finished; its app is asked all the same.
    ///
    /// - Throws: ``HealthStoreError``; it holds for as long as this process lives.
    public func setDisabled(_ isDisabled: Bool, _ identifier: String) async throws(HealthStoreError) {
        var problem: HealthStoreError?
        do throws(HealthStoreError) { try await book.setDisabled(isDisabled, identifier) } catch { problem = error }
        if isDisabled { await pool.retire(identifier) }
        if let problem { throw problem }
    }

    /// Forgets what is held against an extension: quarantine, back-off, items set aside. It is asked from now on as if nothing
    /// had happened, unless it is disabled.
    ///
    /// - Returns: What was known of it before.
    /// - Throws: ``HealthStoreError``; it holds for as long as this process lives.
    @discardableResult
    public func release(_ identifier: String) async throws(HealthStoreError) -> ExtensionHealth {
        try await book.release(identifier)
    }

    /// Starts the worker of an extension, because a person is about to need it. Does not wait until it is ready; a failure
    /// is left to whoever asks.
    public func prewarm(_ identifier: String) async {
        guard let bundle = try? registry.bundle(identifier), (try? await book.admit(bundle, .person)) != nil,
            let lease = try? await pool.lease(bundle, .person)
        else { return }
        await pool.giveBack(lease, isUsable: true)
    }

    package var workerCount: Int { get async { await pool.count } }
}
