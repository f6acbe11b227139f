// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Order of the donations of an app that has several connections, one after the other or at once.
///
/// An app that ends and is started again must not have what its first process sent last overwrite what its second one was
/// acknowledged. So a donation of a connection whose client has gone is dropped if the app has since donated over another one.
/// Nobody was told that it was kept. Without another connection it is kept, since no answer need be waited for.
final class DonationOrder: Sendable {
    /// How many donations of one app were accepted.
    fileprivate final class Count: Sendable {
        let accepted = Mutex<UInt64>(0)
    }
    private struct Entry {
        let count = Count()
        var connections = 0
    }
    /// Only of apps that are connected.
    private let entries = Mutex<[String: Entry]>([:])

    /// How many apps are known.
    var bundles: Int { entries.withLock { $0.count } }

    /// Takes note of a connection of an app. ``Connection/end()`` is called at its end.
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

    /// One connection of an app.
    final class Connection: Sendable {
        private let order: DonationOrder
        private let bundle: String
        private let count: Count
        /// How many of the accepted donations came over this connection; changed with the lock of ``count`` held.
        private let own = Atomic<UInt64>(0)
        private let hasEnded = Atomic(false)

        fileprivate init(order: DonationOrder, bundle: String, count: Count) {
            (self.order, self.bundle, self.count) = (order, bundle, count)
        }

        /// A moment, for a donation that arrives: how many donations of other connections were accepted before.
        var now: UInt64 { count.accepted.withLock { $0 - own.load(ordering: .relaxed) } }

        /// Decides whether a donation is accepted, and counts it.
        ///
        /// - Parameters:
        ///   - arrival: ``now`` when it arrived.
        ///   - isGone: Whether the client has gone. Must be quick.
        func accept(since arrival: UInt64, isGone: () -> Bool) -> Bool {
            count.accepted.withLock { accepted in
                if accepted - own.load(ordering: .relaxed) != arrival, isGone() { return false }
                own.add(1, ordering: .relaxed)
                accepted += 1
                return true
            }
        }

        /// Forgets the connection; more than one call does nothing.
        func end() {
            if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { order.leave(bundle) }
        }
    }
}
