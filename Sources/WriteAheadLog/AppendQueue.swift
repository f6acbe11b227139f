// SPDX-License-Identifier: Apache-2.0
import ItemRecord

/// What has been accepted and is not yet durable, and the client states that result from it.
struct AppendQueue {
    private var pending: [PendingAppend] = []
    /// Whether the I/O queue is at work, or has been told to be.
    private var isDraining = false
    /// Whether nothing is accepted any more.
    var isClosed = false
    /// What durable entries did to the client states.
    private var durableStates: [IndexScope: ClientStateChange] = [:]
    /// What accepted entries did to them; follows the order of acceptance.
    private var acceptedStates: [IndexScope: ClientStateChange] = [:]

    /// Accepts an entry if its condition holds.
    ///
    /// - Returns: Whether the caller has to start the I/O queue.
    mutating func accept(_ append: PendingAppend) throws(LogError) -> Bool {
        guard !isClosed else { throw .closed }
        guard holds(append) else { throw .preconditionFailed }
        take(append)
        defer { isDraining = true }
        return !isDraining
    }

    /// Hands out the entries that become durable together, in order; none if there are none, and then the I/O queue is to
    /// rest.
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

    /// Notes that a group is durable.
    mutating func succeeded(_ group: [PendingAppend]) {
        for append in group where append.stateChange != .unchanged { durableStates[append.scope] = append.stateChange }
    }

    /// Goes back to before a group that failed. What was accepted since is judged again, in order, because its conditions
    /// may have been met by the group's entries.
    ///
    /// - Returns: The entries that are refused now.
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

    /// Notes that a client state was changed where it is stored, past the log; it is to be asked for there.
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
