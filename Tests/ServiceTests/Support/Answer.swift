// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Synchronization

/// The answer to a call that must be sent in a certain order. The test waits for it later.
final class Answer: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Result<[BusValue], BusError>, Never>)
        case known(Result<[BusValue], BusError>)
    }
    private let state = Mutex(State.open)

    func set(_ result: Result<[BusValue], BusError>) {
        let waiting = state.withLock { state -> CheckedContinuation<Result<[BusValue], BusError>, Never>? in
            defer { state = .known(result) }
            if case .waiting(let continuation) = state { return continuation }
            return nil
        }
        waiting?.resume(returning: result)
    }

    @discardableResult
    func value() async throws -> [BusValue] {
        try await withCheckedContinuation { (waiting: CheckedContinuation<Result<[BusValue], BusError>, Never>) in
            let known = state.withLock { state -> Result<[BusValue], BusError>? in
                if case .known(let result) = state { return result }
                state = .waiting(waiting)
                return nil
            }
            if let known { waiting.resume(returning: known) }
        }.get()
    }
}
