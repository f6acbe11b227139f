// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Promises

/// What this program does at signals.
enum Signals {
    /// Leaves no unfinished file behind when a person or the system ends the program, and takes a reader that has gone
    /// as an error of the write. To be called once, before anything else.
    static func prepare() {
        signal(SIGPIPE, SIG_IGN)
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            // The handler holds the source, which so lives as long as the program.
            source.setEventHandler {
                Delivery.removeUnfinishedFiles()
                signal(number, SIG_DFL)
                kill(getpid(), number)
                withExtendedLifetime(source) {}
            }
            source.resume()
        }
    }

    /// Whether whoever started this has it go on, as “nohup” does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
