// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Synchronization

/// Waits of one connection for room in the store; all end with the connection, so that a client that has gone keeps nothing.
final class RoomWaits: Sendable {
    typealias Wait = Task<Result<Void, BusError>, Never>

    private struct State {
        var isOver = false
        var last: UInt64 = 0
        var waits: [UInt64: Wait] = [:]
    }
    private let state = Mutex(State())

    /// Begins a wait, which is cancelled at the end of the connection, or at once after it.
    @discardableResult
    func begin(_ body: @escaping @Sendable () async throws(BusError) -> Void) -> Wait {
        let (wait, isOver) = state.withLock { state in
            state.last += 1
            let number = state.last
            // It ends after the lock is given back, hence after it is noted.
            let wait = Wait { [self] in
                defer { end(number) }
                do throws(BusError) { return .success(try await body()) } catch { return .failure(error) }
            }
            state.waits[number] = wait
            return (wait, state.isOver)
        }
        if isOver { wait.cancel() }
        return wait
    }

    private func end(_ number: UInt64) { state.withLock { $0.waits[number] = nil } }

    /// Ends all waits, and each that begins later.
    func endAll() {
        let waits = state.withLock { state in
            state.isOver = true
            defer { state.waits = [:] }
            return state.waits
        }
        for wait in waits.values { wait.cancel() }
    }
}
