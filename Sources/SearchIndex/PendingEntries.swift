// SPDX-License-Identifier: Apache-2.0

/// The entries that are durable but not yet applied, in one queue per bundle. Entries arrive in the
/// order of their numbers, so each operation takes constant time per entry added, removed or
/// returned.
struct PendingEntries {
    /// The size and priority of an entry.
    struct Entry {
        var sequence: UInt64
        var items: Int
        var bytes: Int
        /// `true` if the entry may be deferred with its bundle.
        var isLowPriority: Bool
    }
    /// The entries of one bundle.
    private struct Queue {
        /// The entries; entries before `start` have been removed.
        private var entries: [Entry] = []
        private var start = 0
        /// The last entry that may not be deferred, even if it has already been removed.
        private(set) var lastHighPriority: UInt64 = 0

        var first: Entry? { start < entries.count ? entries[start] : nil }
        var last: Entry? { start < entries.count ? entries[entries.count - 1] : nil }
        var all: ArraySlice<Entry> { entries[start...] }

        mutating func append(_ entry: Entry) {
            entries.append(entry)
            if !entry.isLowPriority { lastHighPriority = max(lastHighPriority, entry.sequence) }
        }

        mutating func removeFirst() {
            start += 1
            guard start >= 64, start * 2 >= entries.count else { return }
            entries.removeFirst(start)
            start = 0
        }
    }
    private var queues: [String: Queue] = [:]
    /// The totals of the entries.
    private(set) var tally = PendingTally()

    var count: Int { tally.total.donations }
    /// `true` if there are no entries.
    var isEmpty: Bool { count == 0 }

    /// Adds an entry. Its number must be greater than all numbers added before.
    mutating func append(_ entry: Entry, of bundle: String) {
        queues[bundle, default: Queue()].append(entry)
        tally.add(entry, of: bundle)
    }

    /// Removes the entries of a bundle through a number.
    mutating func remove(through sequence: UInt64, of bundle: String) {
        // Removed from the dictionary during the change, to avoid a copy of the queue.
        guard var queue = queues.removeValue(forKey: bundle) else { return }
        while let first = queue.first, first.sequence <= sequence {
            tally.remove(first, of: bundle)
            queue.removeFirst()
        }
        if queue.first != nil { queues[bundle] = queue }
    }

    /// Removes all entries through a number.
    mutating func remove(through sequence: UInt64) {
        for bundle in Array(queues.keys) { remove(through: sequence, of: bundle) }
    }

    /// Returns the first entry of a bundle; `nil` if there is none.
    func first(of bundle: String) -> UInt64? { queues[bundle]?.first?.sequence }

    /// Returns the last entry of a bundle; 0 if there is none.
    ///
    /// - Parameter isHeld: `true` to ignore the entries that may be deferred.
    func last(of bundle: String, isHeld: Bool) -> UInt64 {
        guard let queue = queues[bundle], let first = queue.first, let last = queue.last else { return 0 }
        guard isHeld else { return last.sequence }
        return queue.lastHighPriority >= first.sequence ? queue.lastHighPriority : 0
    }

    /// Returns the number of the last entry that stays active while a bundle's low-priority entries
    /// are deferred; 0 if there is none.
    func lastHighPriority(holding held: String?) -> UInt64 {
        queues.keys.map { last(of: $0, isHeld: $0 == held) }.max() ?? 0
    }

    /// Returns the first entries of a bundle.
    ///
    /// - Parameters:
    ///   - sequence: The largest entry number to return.
    ///   - count: The largest number of entries.
    ///   - bytes: The largest number of bytes. The first entry may exceed it.
    func first(of bundle: String, through sequence: UInt64, count: Int, bytes: Int) -> ArraySlice<Entry> {
        guard let all = queues[bundle]?.all else { return [] }
        var end = all.startIndex
        var size = 0
        while end < all.endIndex, all[end].sequence <= sequence, end - all.startIndex < count {
            size += all[end].bytes
            guard end == all.startIndex || size <= bytes else { break }
            end += 1
        }
        return all[..<end]
    }
}
