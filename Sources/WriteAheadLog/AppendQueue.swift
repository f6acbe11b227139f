// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// The accepted entries that are not durable yet, and the resulting client states.
struct AppendQueue {
    private var pending: [PendingAppend] = []
    /// `true` while the I/O queue is writing entries or is scheduled to.
    private var isDraining = false
    /// `true` if the queue no longer accepts entries.
    var isClosed = false
    /// The changes that durable entries made to client states.
    private var durableStates: [IndexScope: ClientStateChange] = [:]
    /// The changes that accepted entries make to client states, in order of acceptance.
    private var acceptedStates: [IndexScope: ClientStateChange] = [:]

    /// Accepts an entry if its precondition is true.
    ///
    /// - Returns: `true` if the caller has to start the I/O queue.
    mutating func accept(_ append: PendingAppend) throws(LogError) -> Bool {
        guard !isClosed else { throw .closed }
        guard holds(append) else { throw .preconditionFailed }
        take(append)
        defer { isDraining = true }
        return !isDraining
    }

    /// Returns the next entries to make durable together, in order. If there are none, marks the
    /// I/O queue as idle.
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

    /// Reverts the client states to their values before a failed group. Evaluates the preconditions
    /// of all later entries again, in order, because they may have depended on the failed entries.
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

    /// Notes that the store changed a client state without the log, so that the state has to be
    /// read from the store.
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
