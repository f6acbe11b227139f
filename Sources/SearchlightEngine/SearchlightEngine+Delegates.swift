// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import IdleScheduling
import SearchIndex
import ServiceMessages

extension SearchlightEngine {
    /// Registers an app as the delegate of its bundle. Until it is unregistered, the app receives
    /// the reindex and promise requests instead of its extension. If several delegates are
    /// registered, the newest one receives them. ``owedWork(for:)`` returns the work to request
    /// immediately.
    ///
    /// - Returns: A token for the other functions. Pass it to ``receiver(for:)`` for the app's
    ///   donations.
    /// - Throws: ``EngineError/extension(_:)`` if there are too many delegates.
    package func registerDelegate(
        _ delegate: any LiveDelegate, for bundle: String
    ) throws(EngineError) -> DelegateToken {
        let wasAskable = isAskable(bundle)
        do throws(ExtensionError) {
            let token = try delegates.register(delegate, for: bundle)
            // The app's items may be about to expire.
            if wasAskable { jobsFollower.tell() } else { lookSoon() }
            return token
        } catch {
            throw .extension(error)
        }
    }

    /// Ends a registration. Requests that the app has not replied to are sent to the extension.
    ///
    /// - Returns: `true` if the delegate was still registered; a second call does nothing.
    @discardableResult
    package func unregisterDelegate(_ token: DelegateToken) -> Bool {
        defer {
            reindexes.forget(token)
            jobsFollower.tell()
        }
        return delegates.unregister(token)
    }

    /// Records a sign of life from an app, which restarts its request's time limit. Donations
    /// through ``receiver(for:)`` count as signs of life by themselves.
    package func noteProgress(of token: DelegateToken) { delegates.noteProgress(token) }

    /// Returns a receiver that writes a donor's donations to the index. For a registered delegate's
    /// connection, pass the delegate's token.
    ///
    /// - Parameter terms: The conditions for accepting each donation.
    package func receiver(for donor: Donor, terms: DonationTerms = DonationTerms()) -> any DonationReceiver {
        guard case .delegate(let token) = donor else {
            return IndexReceiver(writer: writer, donor: donor, terms: terms)
        }
        return IndexReceiver(writer: writer, donor: donor, terms: terms) { [delegates, reindexes, listeners] batch in
            delegates.noteProgress(token)
            // The item count is reported to the requester of the reindex, like a worker's.
            let (bundle, count) = (batch.scope.bundle, batch.itemCount)
            if count > 0, reindexes.mayBeAsked(token, bundle) { listeners.tell(.donated(bundle: bundle, count: count)) }
        }
    }

    /// Returns `true` if an app may donate `bytes` now without waiting; see
    /// ``SearchIndex/hasRoom(for:bytes:)``.
    package func hasRoom(for bundle: String, bytes: Int) -> Bool { index.hasRoom(for: bundle, bytes: bytes) }

    /// Waits until there may be room for an app's donation; see
    /// ``SearchIndex/waitForRoom(for:bytes:)``.
    ///
    /// - Throws: ``BusError``.
    package func waitForRoom(for bundle: String, bytes: Int) async throws(BusError) {
        do throws(SearchIndexError) { try await index.waitForRoom(for: bundle, bytes: bytes) } catch {
            throw BusError(error)
        }
    }

    /// Notifies a bundle's delegate, or else its running worker, that indexing is throttled or no
    /// longer throttled. Starts no worker.
    ///
    /// - Returns: `true` if there was a delegate or worker to notify.
    @discardableResult
    package func throttle(_ bundle: String, _ notice: ThrottleNotice?) async -> Bool {
        await host.throttle(bundle, notice)
    }

    /// Returns a bundle's pending work: requested but not acknowledged. After failures, wait until
    /// ``Job/notBefore``, unless something has changed, such as a new registration of the app.
    package func owedWork(for bundle: String) -> Job? { jobStore[bundle] }
}
