// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import IdleScheduling
import SearchIndex
import ServiceMessages

extension SearchlightEngine {
    /// Registers an app as the delegate of its bundle: it is asked to reindex and to fulfil promises instead of its
    /// extension, until it is unregistered; the newest one, if there are several. ``owedWork(for:)`` says what to ask it for
    /// at once.
    ///
    /// - Returns: What the other functions are told. What the app donates goes to ``receiver(for:)`` with it.
    /// - Throws: ``EngineError/extension(_:)`` if there are too many.
    package func registerDelegate(
        _ delegate: any LiveDelegate, for bundle: String
    ) throws(EngineError) -> DelegateToken {
        let wasAskable = isAskable(bundle)
        do throws(ExtensionError) {
            let token = try delegates.register(delegate, for: bundle)
            // Its items may be about to expire.
            if wasAskable { jobsFollower.tell() } else { lookSoon() }
            return token
        } catch {
            throw .extension(error)
        }
    }

    /// Ends a registration. What the app is being asked is asked of the extension.
    ///
    /// - Returns: Whether it was still there; a second call does nothing.
    @discardableResult
    package func unregisterDelegate(_ token: DelegateToken) -> Bool {
        defer {
            reindexes.forget(token)
            jobsFollower.tell()
        }
        return delegates.unregister(token)
    }

    /// Notes that an app shows that it works, so that it is waited for; what it donates to ``receiver(for:)`` counts by
    /// itself.
    package func noteProgress(of token: DelegateToken) { delegates.noteProgress(token) }

    /// Keeps what somebody donates. While a connection is that of a registered delegate, it must be given its token.
    ///
    /// - Parameter terms: What decides on each donation when it is accepted.
    package func receiver(for donor: Donor, terms: DonationTerms = DonationTerms()) -> any DonationReceiver {
        guard case .delegate(let token) = donor else {
            return IndexReceiver(writer: writer, donor: donor, terms: terms)
        }
        return IndexReceiver(writer: writer, donor: donor, terms: terms) { [delegates, reindexes, listeners] batch in
            delegates.noteProgress(token)
            // Who asked for it is told how much comes, as of a worker.
            let (bundle, count) = (batch.scope.bundle, batch.itemCount)
            if count > 0, reindexes.mayBeAsked(token, bundle) { listeners.tell(.donated(bundle: bundle, count: count)) }
        }
    }

    /// Whether an app may donate some bytes now without waiting for room; see ``SearchIndex/hasRoom(for:bytes:)``.
    package func hasRoom(for bundle: String, bytes: Int) -> Bool { index.hasRoom(for: bundle, bytes: bytes) }

    /// Returns when there may be room for what an app donates; see ``SearchIndex/waitForRoom(for:bytes:)``.
    ///
    /// - Throws: ``BusError``.
    package func waitForRoom(for bundle: String, bytes: Int) async throws(BusError) {
        do throws(SearchIndexError) { try await index.waitForRoom(for: bundle, bytes: bytes) } catch {
            throw BusError(error)
        }
    }

    /// Tells the delegate of a bundle, or else its running worker, that indexing is slowed down, or not any more. Nobody is
    /// started for it.
    ///
    /// - Returns: Whether there was somebody to tell.
    @discardableResult
    package func throttle(_ bundle: String, _ notice: ThrottleNotice?) async -> Bool {
        await host.throttle(bundle, notice)
    }

    /// What a bundle owes: was asked for and not acknowledged. ``Job/notBefore`` says until when to wait after failures,
    /// unless something has changed, as when its app has just registered.
    package func owedWork(for bundle: String) -> Job? { jobStore[bundle] }

    /// See ``ForgetCall``.
    package func forgetBundle(_ bundle: String) async throws(EngineError) -> Int { try await forget(bundle) }

    /// Removes everything there is of a bundle: its items, its client states, what it owes, and its name, so that what an
    /// app that is gone has left behind does not stay for ever. If it donates meanwhile, it is known again.
    ///
    /// - Returns: How many items there were.
    /// - Throws: ``EngineError``; then some of it may be gone, and a second call removes the rest.
    @discardableResult
    package func forget(_ bundle: String) async throws(EngineError) -> Int {
        await takeOver(bundle)
        guard reindexes.begin(bundle) else { throw .alreadyReindexing(bundle) }
        defer { reindexes.end(bundle) }
        let count = try await onIndex { (index) throws(SearchIndexError) in try await index.forget(bundle: bundle) }
        try jobStore.forget(bundle)
        // What could not be written down holds until the process ends.
        _ = try? await host.release(bundle)
        ledger?.update { $0.forget(bundle) }
        try forgetSchedule(of: bundle)
        if try await itemCounts()[bundle] != nil { try jobStore.note(donor: bundle) }
        return count
    }
}
