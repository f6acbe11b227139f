// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// Tells somebody that what is owed may have changed. It is told on a thread of its own, since changes are made under locks of
/// many kinds; once for all that has changed until then.
final class JobsFollower: Sendable {
    private struct State {
        var handler: (@Sendable () -> Void)?
        var isTelling = false
    }
    private let state = Mutex(State())
    private let onWork: @Sendable () -> any Sendable

    init(onWork: @escaping @Sendable () -> any Sendable) { self.onWork = onWork }

    /// Has somebody told from now on.
    func follow(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.handler = handler } }

    /// Says that something may have changed.
    func tell() {
        let begins = state.withLock { state in
            guard state.handler != nil, !state.isTelling else { return false }
            state.isTelling = true
            return true
        }
        guard begins else { return }
        let work = onWork()
        DispatchQueue.global(qos: .utility).async { [self] in
            // What changes from here on is told once more.
            let handler = state.withLock { state in
                state.isTelling = false
                return state.handler
            }
            handler?()
            withExtendedLifetime(work) {}
        }
    }
}
