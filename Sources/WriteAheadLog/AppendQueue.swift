// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The accepted entries that are not yet durable, and the resulting client states.
struct AppendQueue {
    private var pending: [PendingAppend] = []
    /// `true` while the I/O queue writes entries, or is scheduled to.
    private var isDraining = false
    /// `true` if the queue accepts no more entries.
    var isClosed = false
    /// The changes of client states by durable entries.
    private var durableStates: [IndexScope: ClientStateChange] = [:]
    /// The changes of client states by accepted entries, in the order of acceptance.
    private var acceptedStates: [IndexScope: ClientStateChange] = [:]

    /// Accepts an entry if its condition is true.
    ///
    /// - Returns: `true` if the caller has to start the I/O queue.
    mutating func accept(_ append: PendingAppend) throws(LogError) -> Bool {
        guard !isClosed else { throw .closed }
        guard holds(append) else { throw .preconditionFailed }
        take(append)
        defer { isDraining = true }
        return !isDraining
    }

    /// Returns the next entries that become durable together, in order. If there are none, marks
    /// the I/O queue as idle.
    mutating func nextGroup(upTo bytes: Int) -> [PendingAppend] {
        var size = 0
        var count = 0
        while count < pending.count, count == 0 || size + pending[count].byteCount <= bytes {
            size += pending[count].byteCount
            count += 1
        }
        let group = Array(pending[..<count])
        pending.removeFirst(count)
        if group.isEmpty { isDraining = false }
        return group
    }

    /// Records that a group is durable.
    mutating func succeeded(_ group: [PendingAppend]) {
        for append in group where append.stateChange != .unchanged { durableStates[append.scope] = append.stateChange }
    }

    /// Reverts the client states to those before a failed group. Evaluates the conditions of all
    /// later entries again, in order, because they may have depended on the failed entries.
    ///
    /// - Returns: The entries that are now rejected.
    mutating func failed() -> [PendingAppend] {
        let waiting = pending
        pending = []
        acceptedStates = durableStates
        var refused: [PendingAppend] = []
        for append in waiting {
            if holds(append) { take(append) } else { refused.append(append) }
        }
        return refused
    }

    /// Records that the store changed a client state without the log; the state must then be read
    /// from the store.
    mutating func forgetState(of scope: IndexScope) {
        durableStates[scope] = nil
        acceptedStates[scope] = nil
    }

    private func holds(_ append: PendingAppend) -> Bool {
        append.precondition?(acceptedStates[append.scope] ?? .unchanged) ?? true
    }

    private mutating func take(_ append: PendingAppend) {
        pending.append(append)
        if append.stateChange != .unchanged { acceptedStates[append.scope] = append.stateChange }
    }
}
