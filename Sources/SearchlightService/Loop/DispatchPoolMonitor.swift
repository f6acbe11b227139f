// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import Synchronization

/// A source of wake-ups that can be suspended.
protocol Suspendable: Sendable {
    /// Suspends the source, even if it has resumed by itself. Returns `false` if the caller should
    /// try again later.
    func suspend() -> Bool
    /// Resumes the source.
    func resume()
}

/// Suspends the monitor of libdispatch's thread pools while the daemon is idle.
///
/// On Linux, libdispatch samples its thread pools once a second, from a pool's first job until the
/// process exits. This cannot be switched off (`_dispatch_workq_monitor_pools` in its
/// `event/workqueue.c`). It causes 60 wake-ups per minute.
///
/// *Why the pools are not avoided.* Swift 6.3 can replace its default executor (`_createExecutors`,
/// SPI `ExperimentalCustomExecutors`). Such a process has no wake-ups, but a single
/// `DispatchQueue.async` in any library starts the monitor. GRDB, the write-ahead log and the
/// extension host use libdispatch queues. The measurements are in docs/PERFORMANCE.md.
///
/// *Mechanism.* libdispatch arms one timerfd for each clock. In an idle daemon the monitor is the
/// only timer on `CLOCK_MONOTONIC`: Swift's sleeps and the daemon's deadlines use other clocks.
/// ``suspend()`` disarms that descriptor. ``resume()`` makes it expire immediately, after which
/// libdispatch arms it again. If a timer on another clock expires, libdispatch arms it as well, so
/// the caller later checks that it is still disarmed.
///
/// If the process has no such descriptor or several of them, the monitor is not suspended.
final class DispatchPoolMonitor: Suspendable {
    private struct State {
        var descriptor: Int32?
        var isSuspended = false
    }
    private let state = Mutex(State())

    /// The number of attempts to suspend, since libdispatch may be arming the timer at the same
    /// moment.
    private static let attempts = 3

    /// Disarms the timer, even if libdispatch has armed it again after an earlier call.
    ///
    /// - Returns: `true` if there is nothing left to do; `false` if libdispatch armed the timer
    ///   again after each attempt. The caller should then try again later.
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

    /// Makes the timer expire, which restarts the monitor.
    func resume() { state.withLock { Self.expire(&$0) } }

    deinit { resume() }

    private static func expire(_ state: inout State) {
        guard state.isSuspended, let descriptor = state.descriptor else { return }
        state.isSuspended = false
        _ = csystem_set_timer(descriptor, 1)
    }

    /// Returns this process's timerfd on `CLOCK_MONOTONIC`, if there is exactly one.
    private static func find() -> Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let timers = names.compactMap { Int32($0) }.filter { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target == "anon_inode:[timerfd]" && field("clockid", number) == "\(CLOCK_MONOTONIC)"
        }
        return timers.count == 1 ? timers[0] : nil
    }

    private static func isDisarmed(_ descriptor: Int32) -> Bool { field("it_value", descriptor) == "(0, 0)" }

    /// Returns a field from proc_pid_fdinfo(5).
    private static func field(_ name: String, _ descriptor: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8) else {
            return nil
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
