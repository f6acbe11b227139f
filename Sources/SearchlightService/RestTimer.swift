// SPDX-License-Identifier: Apache-2.0
import CSystemd
import Synchronization

/// Notes when nothing has been under way for some seconds: then memory that is only kept for reuse is given back, and
/// nothing wakes the process until something begins again.
final class RestTimer: Sendable {
    private struct State {
        var timer: Task<Void, Never>?
        var isResting = false
    }
    /// Longer than the index takes to apply what was donated.
    static let pause = Duration.seconds(3)

    private let state = Mutex(State())
    private let activity: @Sendable () -> ServiceActivity.Load
    private let pools = PoolWatch()

    init(activity: @escaping @Sendable () -> ServiceActivity.Load) { self.activity = activity }

    /// Requests have become some or none.
    func update() {
        state.withLock { state in
            if activity().requests > 0 {
                if state.isResting { pools.wake() }
                state.isResting = false
            } else if state.timer == nil, !state.isResting {
                state.timer = Task { [weak self] in await self?.waitForRest() }
            }
        }
    }

    private func waitForRest() async {
        var last = activity().total
        while true {
            // The clock that goes on while the pools rest.
            guard (try? await ContinuousClock().sleep(for: Self.pause)) != nil else { return }
            let load = activity()
            guard load.requests == 0, load.total == last else {
                last = load.total
                continue
            }
            csystemd_trim_memory()
            let isDone = state.withLock { state in
                if activity().requests == 0 {
                    // It is tried again later; until then something wakes the process in any case.
                    guard pools.rest() else { return false }
                    state.isResting = true
                }
                state.timer = nil
                return true
            }
            if isDone { break }
        }
        // What began in between found no rest to end.
        update()
    }

    /// Ends a rest for good.
    func end() {
        state.withLock { state in
            state.timer?.cancel()
            pools.wake()
        }
    }
}
