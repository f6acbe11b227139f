// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Synchronization

/// One connection's waits for room in the store. All of them end with the connection, so that a
/// disconnected client holds no resources.
final class SpaceWaiters: Sendable {
    typealias Wait = Task<Result<Void, BusError>, Never>

    private struct State {
        var isOver = false
        var last: UInt64 = 0
        var waits: [UInt64: Wait] = [:]
    }
    private let state = Mutex(State())

    /// Starts a wait, which is cancelled when the connection ends. If the connection has already
    /// ended, the wait is cancelled immediately.
    @discardableResult
    func begin(_ body: @escaping @Sendable () async throws(BusError) -> Void) -> Wait {
        let (wait, isOver) = state.withLock { state in
            state.last += 1
            let number = state.last
            // The task removes itself under the lock, and therefore only after it is recorded.
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

    /// Cancels all waits, including those that start later.
    func endAll() {
        let waits = state.withLock { state in
            state.isOver = true
            defer { state.waits = [:] }
            return state.waits
        }
        for wait in waits.values { wait.cancel() }
    }
}
