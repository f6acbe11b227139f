// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import Synchronization

/// Something that wakes the process on its own and can be suspended.
protocol Suspendable: Sendable {
    /// Suspends it, also if it has resumed by itself since. Returns `false` where that is worth another try later.
    func suspend() -> Bool
    /// Lets it go on.
    func resume()
}

/// Suspends the monitor of libdispatch's thread pools while the daemon is idle.
///
/// On Linux libdispatch samples its thread pools once a second, from the first job of a pool to the end of the process, and has
/// no switch for that (`_dispatch_workq_monitor_pools` in its `event/workqueue.c`). That is 60 wake-ups a minute.
///
/// *Why not avoid the pools.* Swift 6.3 can replace its default executor (`_createExecutors`, SPI
/// `ExperimentalCustomExecutors`): such a process is not woken at all, but one `DispatchQueue.async` of any library starts the
/// monitor. GRDB, the write-ahead log and the extension host use queues of libdispatch. docs/PERFORMANCE.md has the figures.
///
/// *How.* libdispatch arms one timer descriptor per clock. In an idle daemon the monitor is the only timer on
/// `CLOCK_MONOTONIC`: Swift's sleeps and the daemon's deadlines use other clocks. ``suspend()`` disarms that descriptor; ``resume()`` makes it expire at
/// once, after which libdispatch arms it again by itself. A timer of another clock that expires arms it as well, so the
/// caller checks later whether it is still disarmed.
///
/// Where the process has no such descriptor or several, nothing is done, and the process is woken as any other.
final class DispatchPoolMonitor: Suspendable {
    private struct State {
        var descriptor: Int32?
        var isSuspended = false
    }
    private let state = Mutex(State())

    /// How often a suspension is tried: libdispatch may be arming the timer at that moment.
    private static let attempts = 3

    /// Disarms the timer, also if it was disarmed before and libdispatch has armed it since.
    ///
    /// - Returns: Whether there is nothing left to do: `false` if libdispatch armed the timer again each time, which is worth
    ///   another try later.
    func suspend() -> Bool {
        state.withLock { state in
            guard let descriptor = state.descriptor ?? Self.find() else { return true }
            state.descriptor = descriptor
            if state.isSuspended, Self.isDisarmed(descriptor) { return true }
            for _ in 0..<Self.attempts {
                guard csystem_set_timer(descriptor, 0) == 0 else { return true }
                state.isSuspended = true
                usleep(1000)
                if Self.isDisarmed(descriptor) { return true }
            }
            Self.expire(&state)
            return false
        }
    }

    /// Lets the monitor go on.
    func resume() { state.withLock { Self.expire(&$0) } }

    deinit { resume() }

    private static func expire(_ state: inout State) {
        guard state.isSuspended, let descriptor = state.descriptor else { return }
        state.isSuspended = false
        _ = csystem_set_timer(descriptor, 1)
    }

    /// The timer descriptor of this process on `CLOCK_MONOTONIC`, if there is exactly one.
    private static func find() -> Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let timers = names.compactMap { Int32($0) }.filter { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target == "anon_inode:[timerfd]" && field("clockid", number) == "\(CLOCK_MONOTONIC)"
        }
        return timers.count == 1 ? timers[0] : nil
    }

    private static func isDisarmed(_ descriptor: Int32) -> Bool { field("it_value", descriptor) == "(0, 0)" }

    /// A field of proc_pid_fdinfo(5).
    private static func field(_ name: String, _ descriptor: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8) else {
            return nil
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
