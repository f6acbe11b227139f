// SPDX-License-Identifier: Apache-2.0

/// The entries that are durable and not applied, each bundle's in a queue of its own. Entries come in the order of their
/// numbers, so each operation takes constant time for each entry that it adds, removes or returns.
struct PendingEntries {
    /// What is known of an entry.
    struct Entry {
        var sequence: UInt64
        var items: Int
        var bytes: Int
        /// Whether it may wait while its bundle is held.
        var isPatient: Bool
    }
    /// The entries of one bundle.
    private struct Queue {
        /// The entries; those before `start` are removed.
        private var entries: [Entry] = []
        private var start = 0
        /// The last entry that may not wait, whether it is still here or not.
        private(set) var lastImpatient: UInt64 = 0

        var first: Entry? { start < entries.count ? entries[start] : nil }
        var last: Entry? { start < entries.count ? entries[entries.count - 1] : nil }
        var all: ArraySlice<Entry> { entries[start...] }

        mutating func append(_ entry: Entry) {
            entries.append(entry)
            if !entry.isPatient { lastImpatient = max(lastImpatient, entry.sequence) }
        }

        mutating func removeFirst() {
            start += 1
            guard start >= 64, start * 2 >= entries.count else { return }
            entries.removeFirst(start)
            start = 0
        }
    }
    private var queues: [String: Queue] = [:]
    /// How much these are.
    private(set) var tally = PendingTally()

    var count: Int { tally.total.donations }
    /// Whether there are none.
    var isEmpty: Bool { count == 0 }

    /// Adds an entry. Its number is greater than those of all before it.
    mutating func append(_ entry: Entry, of bundle: String) {
        queues[bundle, default: Queue()].append(entry)
        tally.add(entry, of: bundle)
    }

    /// Removes the entries of a bundle up to a number.
    mutating func remove(through sequence: UInt64, of bundle: String) {
        // Out of the dictionary while it changes, or each change would copy it.
        guard var queue = queues.removeValue(forKey: bundle) else { return }
        while let first = queue.first, first.sequence <= sequence {
            tally.remove(first, of: bundle)
            queue.removeFirst()
        }
        if queue.first != nil { queues[bundle] = queue }
    }

    /// Removes all entries up to a number.
    mutating func remove(through sequence: UInt64) {
        for bundle in Array(queues.keys) { remove(through: sequence, of: bundle) }
    }

    /// The first entry of a bundle; `nil` if there is none.
    func first(of bundle: String) -> UInt64? { queues[bundle]?.first?.sequence }

    /// The last entry of a bundle; 0 if there is none.
    ///
    /// - Parameter isHeld: Whether the bundle is held: then what may wait does not count.
    func last(of bundle: String, isHeld: Bool) -> UInt64 {
        guard let queue = queues[bundle], let first = queue.first, let last = queue.last else { return 0 }
        guard isHeld else { return last.sequence }
        return queue.lastImpatient >= first.sequence ? queue.lastImpatient : 0
    }

    /// The last entry that does not wait while a bundle is held; 0 if there is none.
    func lastImpatient(holding held: String?) -> UInt64 {
        queues.keys.map { last(of: $0, isHeld: $0 == held) }.max() ?? 0
    }

    /// The first entries of a bundle.
    ///
    /// - Parameters:
    ///   - sequence: The last that may be among them.
    ///   - count: How many at most.
    ///   - bytes: How many bytes at most, but for the first one.
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
