// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Has the service itself yield to everybody else while it works in the background: what an extension donates is journaled,
/// compared and indexed here, which takes more of a processor than the extension does. While a client waits for an answer it
/// is like any program.
final class SessionPriority: Sendable {
    private struct State {
        var isWorking = false
        var hasClients = false
        var isLow = false
        /// Waits to make it low, or to try once more.
        var timer: Task<Void, Never>?

        var isToBeLow: Bool { isWorking && !hasClients }
    }
    private let state = Mutex(State())
    private let set: @Sendable (Bool) -> Bool
    private let isIndexing: @Sendable () -> Bool
    private let clock: any Clock<Duration>

    /// How long after the last client it yields again: a client often asks again at once.
    static let patience = Duration.seconds(1)
    /// After its work it yields until nothing is indexed any more, which is looked at each time this has passed. What was under
    /// way when an extension was paused still ends, for which 0.15 s of a processor were seen; where others use them all, there
    /// are about 0.02 in each second.
    static let aftermath = Duration.seconds(1)
    /// The most looks: apps go on to donate.
    static let looks = 10
    /// The kernel takes ten changes a second from all programs of users together.
    static let retryPause = Duration.milliseconds(120)

    /// - Parameters:
    ///   - set: Has the service yield, or not any more; `false` to be asked again soon.
    ///   - isIndexing: Whether something is indexed now.
    init(
        clock: any Clock<Duration>, set: @escaping @Sendable (Bool) -> Bool, isIndexing: @escaping @Sendable () -> Bool
    ) {
        (self.clock, self.set, self.isIndexing) = (clock, set, isIndexing)
    }

    /// Notes whether something is done in the background, for which nobody waits.
    func noteWork(_ isUnderWay: Bool) {
        change(after: isUnderWay ? nil : Self.aftermath, looks: Self.looks) { $0.isWorking = isUnderWay }
    }

    /// Notes whether a client waits for something.
    func noteClients(_ areThere: Bool) { change(after: areThere ? nil : Self.patience) { $0.hasClients = areThere } }

    private func change(after pause: Duration?, looks: Int = 1, _ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            guard state.isToBeLow != state.isLow else {
                state.timer?.cancel()
                return state.timer = nil
            }
            if let pause { wait(pause, looks: looks, &state) } else { apply(&state) }
        }
    }

    /// Under the lock, so that what is set last is what was wanted last.
    private func apply(_ state: inout State) {
        state.timer?.cancel()
        state.timer = nil
        guard state.isToBeLow != state.isLow else { return }
        if set(state.isToBeLow) { state.isLow = state.isToBeLow } else { wait(Self.retryPause, &state) }
    }

    private func wait(_ pause: Duration, looks: Int = 1, _ state: inout State) {
        guard state.timer == nil else { return }
        state.timer = clock.timer(after: pause) { [weak self] in self?.expire(pause, looks: looks) }
    }

    private func expire(_ pause: Duration, looks: Int) {
        // Not under the lock: the index has one of its own.
        let isIndexing = isIndexing()
        state.withLock { state in
            guard !Task.isCancelled else { return }
            state.timer = nil
            if isIndexing && looks > 1 { wait(pause, looks: looks - 1, &state) } else { apply(&state) }
        }
    }
}
