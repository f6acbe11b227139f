// SPDX-License-Identifier: Apache-2.0
import CStart
import Dispatch
import Glibc
import Promises
import Synchronization

/// The signals that stop the service: the first one stops it gracefully, the second one
/// immediately. A signal that arrives before the service exists is kept for it.
final class StopSignals {
    private var sources: [any DispatchSourceSignal] = []
    private let stop = Stop()

    /// Returns once the signal sources are active. From then on, no signal is lost or terminates
    /// the process abruptly.
    init() {
        signal(SIGPIPE, SIG_IGN)
        cstart_fail_at_file_size()
        // A service has no terminal.
        signal(SIGHUP, SIG_IGN)
        let queue = DispatchQueue(label: "com.searchlight.signals")
        let begun = DispatchGroup()
        for number in [SIGTERM, SIGINT] {
            // The signal is not set to be ignored first, because the dispatch source replaces its
            // action once active.
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { [stop] in
                guard stop.want() else {
                    Delivery.removeUnfinishedFiles()
                    _exit(128 + number)
                }
            }
            begun.enter()
            source.setRegistrationHandler { begun.leave() }
            source.resume()
            sources.append(source)
        }
        begun.wait()
    }

    /// Sets the function that the first signal calls. If that signal has already arrived, calls the
    /// function immediately.
    func onStop(_ action: @escaping @Sendable () -> Void) { stop.set(action) }

    /// `true` once a signal has arrived.
    var isStopWanted: @Sendable () -> Bool { { [stop] in stop.isWanted } }

    func end() { for source in sources { source.cancel() } }
}

private final class Stop: Sendable {
    private struct State {
        var isWanted = false
        var action: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    var isWanted: Bool { state.withLock { $0.isWanted } }

    /// Records a signal; returns `true` for the first one.
    func want() -> Bool {
        let (isFirst, action) = state.withLock { state in
            defer { state.isWanted = true }
            return (!state.isWanted, state.action)
        }
        if isFirst { action?() }
        return isFirst
    }

    func set(_ action: @escaping @Sendable () -> Void) {
        let isWanted = state.withLock { state in
            state.action = action
            return state.isWanted
        }
        if isWanted { action() }
    }
}
