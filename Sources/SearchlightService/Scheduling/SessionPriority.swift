// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// Lowers the priority of the service's own process during background work. The service logs,
/// compares and indexes donations, which takes more processor time than the extension does. While a
/// client is waiting for a reply, the process has normal priority.
final class SessionPriority: Sendable {
    private struct State {
        var isWorking = false
        var hasClients = false
        var isLow = false
        /// The timer that lowers the priority, or tries to set it again.
        var timer: Task<Void, Never>?

        var isToBeLow: Bool { isWorking && !hasClients }
    }
    private let state = Mutex(State())
    private let set: @Sendable (Bool) -> Bool
    private let isIndexing: @Sendable () -> Bool
    private let clock: any Clock<Duration>

    /// The delay after the last client request before the priority is lowered again, since a client
    /// often sends another request soon.
    static let patience = Duration.seconds(1)
    /// The interval between checks after background work, until all indexing has ended. A batch in
    /// progress still finishes after its extension is paused. It took up to 0.15 s of processor
    /// time; on a busy machine it only gets about 0.02 s in each second.
    static let aftermath = Duration.seconds(1)
    /// The maximum number of checks, since apps may continue to donate.
    static let looks = 10
    /// The delay before another attempt. The kernel accepts ten changes per second in total from
    /// all unprivileged programs.
    static let retryPause = Duration.milliseconds(120)

    /// Creates the priority control.
    ///
    /// - Parameters:
    ///   - set: Lowers or restores the priority; returns `false` if the caller should try again
    ///     soon.
    ///   - isIndexing: Returns `true` while donations are being indexed.
    init(
        clock: any Clock<Duration>, set: @escaping @Sendable (Bool) -> Bool, isIndexing: @escaping @Sendable () -> Bool
    ) {
        (self.clock, self.set, self.isIndexing) = (clock, set, isIndexing)
    }

    /// Records whether a background job is running.
    func noteWork(_ isUnderWay: Bool) {
        change(after: isUnderWay ? nil : Self.aftermath, looks: Self.looks) { $0.isWorking = isUnderWay }
    }

    /// Records whether a client is waiting for a reply.
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

    /// Applies the priority under the lock, so that the last requested one is set last.
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
        // Called without the lock, since the index has its own lock.
        let isIndexing = isIndexing()
        state.withLock { state in
            guard !Task.isCancelled else { return }
            state.timer = nil
            if isIndexing && looks > 1 { wait(pause, looks: looks - 1, &state) } else { apply(&state) }
        }
    }
}
