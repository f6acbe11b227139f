// SPDX-License-Identifier: Apache-2.0

/// The amount of data that is waiting to be sent to a peer. It is computed from the sizes of sent
/// messages and the number of messages in sd-bus's queue, since sd-bus does not report sizes.
struct UnsentMessages {
    private let limits: BusLimits
    /// The sizes of the last messages, oldest first, starting at the index `first`. Includes at
    /// least all queued messages.
    private var sizes: [Int] = []
    private var first = 0
    private(set) var bytes = 0

    init(limits: BusLimits) { self.limits = limits }

    /// Adds a message that was passed to sd-bus.
    mutating func append(_ size: Int) {
        sizes.append(size)
        bytes += size
    }

    /// Removes the messages that have been sent.
    ///
    /// - Parameter queued: The number of messages in sd-bus's queue. Some of them may be sd-bus's
    ///   own, which are small.
    /// - Throws: ``BusEnd/violated(_:)`` if a limit is exceeded.
    mutating func settle(queued: Int) throws(BusEnd) {
        while sizes.count - first > queued {
            bytes -= sizes[first]
            first += 1
        }
        // Amortized: each size is moved only once.
        if first > sizes.count / 2 {
            sizes.removeFirst(first)
            first = 0
        }
        guard bytes <= limits.maximumUnsentBytes else {
            throw .violated("it did not read, and more than \(limits.maximumUnsentBytes) bytes are unsent")
        }
        guard queued <= limits.maximumUnsentMessages else {
            throw .violated("it did not read, and more than \(limits.maximumUnsentMessages) messages are unsent")
        }
    }
}
