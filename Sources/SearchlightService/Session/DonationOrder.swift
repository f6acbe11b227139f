// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Orders the donations of an app that has several connections, one after another or at the same
/// time.
///
/// If an app exits and restarts, the last donations from its first process must not overwrite
/// acknowledged donations from the second. So if a client has disconnected, its pending donations
/// are dropped once the app has donated over another connection. No client received an
/// acknowledgement for them. If there is no other connection, the donations are kept, since a
/// client does not have to wait for the reply.
final class DonationOrder: Sendable {
    /// The number of one app's accepted donations.
    fileprivate final class Count: Sendable {
        let accepted = Mutex<UInt64>(0)
    }
    private struct Entry {
        let count = Count()
        var connections = 0
    }
    /// The connected apps.
    private let entries = Mutex<[String: Entry]>([:])

    /// The number of connected apps.
    var bundles: Int { entries.withLock { $0.count } }

    /// Registers one of an app's connections. Call ``Connection/end()`` when the connection ends.
    func connect(_ bundle: String) -> Connection {
        let count = entries.withLock { entries in
            var entry = entries[bundle] ?? Entry()
            entry.connections += 1
            entries[bundle] = entry
            return entry.count
        }
        return Connection(order: self, bundle: bundle, count: count)
    }

    fileprivate func leave(_ bundle: String) {
        entries.withLock { entries in
            guard let entry = entries[bundle] else { return }
            entries[bundle]?.connections = entry.connections - 1
            if entry.connections == 1 { entries[bundle] = nil }
        }
    }

    /// One of an app's connections.
    final class Connection: Sendable {
        private let order: DonationOrder
        private let bundle: String
        private let count: Count
        /// The number of accepted donations over this connection. Only changed while the lock of
        /// ``count`` is held.
        private let own = Atomic<UInt64>(0)
        private let hasEnded = Atomic(false)

        fileprivate init(order: DonationOrder, bundle: String, count: Count) {
            (self.order, self.bundle, self.count) = (order, bundle, count)
        }

        /// The logical time of an arriving donation: the number of accepted donations over other
        /// connections.
        var now: UInt64 { count.accepted.withLock { $0 - own.load(ordering: .relaxed) } }

        /// Determines whether a donation is accepted, and counts it.
        ///
        /// - Parameters:
        ///   - arrival: The value of ``now`` when the donation arrived.
        ///   - isGone: Returns `true` if the client has disconnected. Must be quick.
        func accept(since arrival: UInt64, isGone: () -> Bool) -> Bool {
            count.accepted.withLock { accepted in
                if accepted - own.load(ordering: .relaxed) != arrival, isGone() { return false }
                own.add(1, ordering: .relaxed)
                accepted += 1
                return true
            }
        }

        /// Removes the connection; further calls do nothing.
        func end() {
            if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { order.leave(bundle) }
        }
    }
}
