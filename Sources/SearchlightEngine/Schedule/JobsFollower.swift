// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Notifies a handler that the pending jobs may have changed. The handler runs on a dispatch queue,
/// since callers may hold locks. Several changes may be combined into one notification.
final class JobsFollower: Sendable {
    private struct State {
        var handler: (@Sendable () -> Void)?
        var isNotifying = false
    }
    private let state = Mutex(State())
    private let onWork: @Sendable () -> any Sendable

    init(onWork: @escaping @Sendable () -> any Sendable) { self.onWork = onWork }

    /// Sets the handler.
    func follow(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.handler = handler } }

    /// Schedules a notification.
    func tell() {
        let begins = state.withLock { state in
            guard state.handler != nil, !state.isNotifying else { return false }
            state.isNotifying = true
            return true
        }
        guard begins else { return }
        let work = onWork()
        DispatchQueue.global(qos: .utility).async { [self] in
            // The flag is cleared before the handler runs, so that a change during the handler
            // leads to another notification.
            let handler = state.withLock { state in
                state.isNotifying = false
                return state.handler
            }
            handler?()
            withExtendedLifetime(work) {}
        }
    }
}
