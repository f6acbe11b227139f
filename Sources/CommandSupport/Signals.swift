// SPDX-License-Identifier: Apache-2.0
import CStart
import Dispatch
import Foundation
import Glibc
import Promises
import Synchronization

/// The program's handling of signals.
package enum Signals {
    /// Installs the signal handlers. They remove unfinished files when a signal terminates the
    /// program. A closed pipe causes a write error instead of SIGPIPE. Call this once, before
    /// anything else, on the first thread: libdispatch's threads block signals, and this function
    /// saves its thread's signal mask for child programs.
    package static func prepare() {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        maskAtStart.withLock { [mask] in $0 = mask }
        signal(SIGPIPE, SIG_IGN)
        cstart_fail_at_file_size()
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            // The signal is not set to be ignored first. The dispatch source replaces its action
            // when it becomes active; an earlier signal would be lost.
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            // The handler retains the source, so that it lives as long as the program.
            source.setEventHandler {
                // A second signal terminates a program that does not react to the first.
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

    /// Sets a function that the next signal calls instead of terminating the program. The program
    /// must then exit on its own. May be called once.
    package static func onInterruption(_ end: @escaping @Sendable () -> Void) { interruption.withLock { $0 = end } }

    /// Terminates the program with status 0 if it has not exited within ``longestEnd`` seconds,
    /// since an extension may hang. Only for programs that change nothing. The kernel terminates
    /// the workers when their host has exited.
    package static func endSoon() {
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: longestEnd)
            Delivery.removeUnfinishedFiles()
            _exit(0)
        }
    }

    /// The time limit in seconds.
    private static let longestEnd = 0.8
    /// A dedicated queue, which has a thread even if all threads of the shared queues are blocked.
    private static let queue = DispatchQueue(label: "searchlight.signals")
    private static let interruption = Mutex<(@Sendable () -> Void)?>(nil)
    private static let handled = Mutex<[Int32]>([])
    private static let maskAtStart = Mutex(sigset_t())

    /// The signal settings for a child program, which equal this program's settings when it
    /// started: the signals to reset to their default action, and the signal mask.
    package static var beforehand: (defaults: sigset_t, mask: sigset_t) {
        var defaults = sigset_t()
        sigemptyset(&defaults)
        let quits = isIgnored(SIGQUIT) ? [] : [SIGQUIT]
        for number in handled.withLock({ $0 }) + quits + [SIGPIPE, SIGXFSZ] { sigaddset(&defaults, number) }
        return (defaults, maskAtStart.withLock { $0 })
    }

    /// Restores the signal actions and the mask that this program started with. Call it before
    /// execve(2), which keeps both.
    package static func withdraw() {
        for number in handled.withLock({ $0 }) + [SIGPIPE, SIGXFSZ] { signal(number, SIG_DFL) }
        // libdispatch's threads block signals.
        var mask = maskAtStart.withLock { $0 }
        pthread_sigmask(SIG_SETMASK, &mask, nil)
    }

    /// Returns `true` if the parent process set the signal to be ignored, as “nohup” does.
    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1  // SIG_IGN
    }
}
