// SPDX-License-Identifier: Apache-2.0
import CStart
import Dispatch
import Foundation
import Glibc
import Promises
import Synchronization

/// What this program does at signals.
package enum Signals {
    /// Leaves no unfinished file behind when a person or the system ends the program, and takes a reader that has gone
    /// as an error of the write. Call it once, before anything else, and on the first thread. Threads of libdispatch
    /// block signals, and this function keeps the mask of its thread for programs that are started.
    package static func prepare() {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        maskAtStart.withLock { [mask] in $0 = mask }
        signal(SIGPIPE, SIG_IGN)
        cstart_fail_at_file_size()
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            // Not ignored before: the source takes the place of what the signal does once it has begun, and one that comes
            // earlier would be lost.
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // The handler holds the source, which so lives as long as the program.
            source.setEventHandler {
                // The second one ends what does not end by itself.
                if let end = interruption.withLock({ $0.take() }) { return end() }
                Delivery.removeUnfinishedFiles()
                signal(number, SIG_DFL)
                kill(getpid(), number)
                withExtendedLifetime(source) {}
            }
            source.resume()
            handled.withLock { $0.append(number) }
        }
    }

    /// Has the next signal end something rather than the program, which then ends by itself. May be called once.
    package static func onInterruption(_ end: @escaping @Sendable () -> Void) { interruption.withLock { $0 = end } }

    /// Ends the program, as if by itself, if it has not ended soon: an extension may hang. Only for who changes nothing; the
    /// kernel ends the workers of a host that has gone.
    package static func endSoon() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: longestEnd)
            Delivery.removeUnfinishedFiles()
            _exit(0)
        }
    }

    /// How long an end may take, in seconds.
    private static let longestEnd = 0.8
    /// A queue of its own has a thread when all threads of the shared ones are blocked.
    private static let queue = DispatchQueue(label: "searchlight.signals")
    private static let interruption = Mutex<(@Sendable () -> Void)?>(nil)
    private static let handled = Mutex<[Int32]>([])
    private static let maskAtStart = Mutex(sigset_t())

    /// What a program that this one starts has to be given so that signals act on it as they did on this one at the beginning:
    /// those that do what they do by themselves, and those that are blocked.
    package static var beforehand: (defaults: sigset_t, mask: sigset_t) {
        var defaults = sigset_t()
        sigemptyset(&defaults)
        let quits = isIgnored(SIGQUIT) ? [] : [SIGQUIT]
        for number in handled.withLock({ $0 }) + quits + [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
        return (defaults, maskAtStart.withLock { $0 })
    }

    /// Restores the actions and the mask of signals that this program was started with, before execve(2), which keeps both.
    package static func withdraw() {
        for number in handled.withLock({ $0 }) + [SIGPIPE, SIGXFSZ] { signal(number, SIG_DFL) }
        // Threads of libdispatch block signals.
        var mask = maskAtStart.withLock { $0 }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// Whether the parent process set the signal to be ignored, as “nohup” does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
