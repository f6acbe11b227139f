// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Orders the donations of an app that has several connections, one after the other or at the same
/// time.
///
/// If an app ends and restarts, the last donations of its first process must not overwrite
/// acknowledged donations of the second. So a donation of a connection whose client has gone is
/// dropped if the app has donated over another connection since. No client received an
/// acknowledgement for it. Without another connection the donation is kept, since a client need not
/// wait for its answer.
final class DonationOrder: Sendable {
    /// The number of accepted donations of one app.
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

    /// Registers a connection of an app. Call ``Connection/end()`` at its end.
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

    /// A connection of an app.
    final class Connection: Sendable {
        private let order: DonationOrder
        private let bundle: String
        private let count: Count
        /// The number of accepted donations over this connection. Changed only while the lock of
        /// ``count`` is held.
        private let own = Atomic<UInt64>(0)
        private let hasEnded = Atomic(false)

        fileprivate init(order: DonationOrder, bundle: String, count: Count) {
            (self.order, self.bundle, self.count) = (order, bundle, count)
        }

        /// The logical time of an arriving donation: the number of accepted donations over other
        /// connections.
        var now: UInt64 { count.accepted.withLock { $0 - own.load(ordering: .relaxed) } }

        /// Decides whether a donation is accepted, and counts it.
        ///
        /// - Parameters:
        ///   - arrival: The value of ``now`` when the donation arrived.
        ///   - isGone: Returns `true` if the client has gone. Must be quick.
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
