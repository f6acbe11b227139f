// SPDX-License-Identifier: Apache-2.0
import CStart
import Dispatch
import Glibc
import Promises
import Synchronization

/// The signals that end the service: the first in order, the second at once. One that comes before there is a service to
/// end is kept for it.
final class StopSignals {
    private var sources: [any DispatchSourceSignal] = []
    private let stop = Stop()

    /// Returns when signals are taken, so that from then on none is lost or ends the process out of order.
    init() {
        signal(SIGPIPE, SIG_IGN)
        cstart_fail_at_file_size()
        // A service has no terminal to lose.
        signal(SIGHUP, SIG_IGN)
        let queue = DispatchQueue(label: "com.searchlight.signals")
        let begun = DispatchGroup()
        for number in [SIGTERM, SIGINT] {
            // Not ignored before: the source takes the place of whatever is done at the signal once it has begun.
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

    /// Has something called at the first signal, also if that came before.
    func onStop(_ action: @escaping @Sendable () -> Void) { stop.set(action) }

    /// Whether there was one.
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

    /// Notes a signal; says whether it is the first.
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
