// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Promises
import Synchronization

/// The signals that end the service: the first in order, the second at once.
final class StopSignals {
    private var sources: [any DispatchSourceSignal] = []

    /// - Parameter onStop: Called at the first.
    init(onStop: @escaping @Sendable () -> Void) {
        signal(SIGPIPE, SIG_IGN)
        // A service has no terminal to lose.
        signal(SIGHUP, SIG_IGN)
        let queue = DispatchQueue(label: "com.searchlight.signals")
        let flag = FirstTime()
        for number in [SIGTERM, SIGINT] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                guard flag.isFirst() else {
                    Delivery.removeUnfinishedFiles()
                    _exit(128 + number)
                }
                onStop()
            }
            source.resume()
            sources.append(source)
        }
    }

    func end() { for source in sources { source.cancel() } }
}

private final class FirstTime: Sendable {
    private let happened = Atomic(false)

    /// Whether this is the first call.
    func isFirst() -> Bool { !happened.exchange(true, ordering: .relaxed) }
}
