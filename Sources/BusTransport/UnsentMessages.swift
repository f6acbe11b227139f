// SPDX-License-Identifier: Apache-2.0

/// How much waits to be sent to a peer, from the sizes of what was sent and the number of messages that sd-bus still
/// has. sd-bus tells no sizes.
struct UnsentMessages {
    private let limits: BusLimits
    /// The sizes of the last messages, oldest first from `first` on; no fewer than those that wait.
    private var sizes: [Int] = []
    private var first = 0
    private(set) var bytes = 0

    init(limits: BusLimits) { self.limits = limits }

    /// Takes note of a message that was handed to sd-bus.
    mutating func append(_ size: Int) {
        sizes.append(size)
        bytes += size
    }

    /// Forgets what is sent.
    ///
    /// - Parameter queued: How many messages sd-bus has not sent. A few of them may be its own, which are small.
    /// - Throws: ``BusEnd/violated(_:)`` when more waits than may.
    mutating func settle(queued: Int) throws(BusEnd) {
        while sizes.count - first > queued {
            bytes -= sizes[first]
            first += 1
        }
        // Amortized, so that each size is moved once.
        if first > sizes.count / 2 {
            sizes.removeFirst(first)
            first = 0
        }
        guard bytes <= limits.maximumUnsentBytes else {
            throw .violated("it did not read while more than \(limits.maximumUnsentBytes) bytes waited for it")
        }
        guard queued <= limits.maximumUnsentMessages else {
            throw .violated("it did not read while more than \(limits.maximumUnsentMessages) messages waited for it")
        }
    }
}
