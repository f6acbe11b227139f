// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import Synchronization

/// Has libdispatch rest while the service does.
///
/// On Linux libdispatch looks at its thread pools once a second, from their first job to the end of the process, and has
/// no switch for that (`_dispatch_workq_monitor_pools`). Its timers of one clock share one timer descriptor; while nothing
/// is under way, this takes the time out of the one of the uptime clock, and has it expire at once when something begins,
/// so that libdispatch sets it anew by itself. Timers of other clocks go on: all that a service waits for while it rests
/// (``IdleTimer``, a client's first call) is measured with the continuous clock. When one of these is over, be it that nobody
/// waits for it any more, libdispatch sets all of them anew, so the rest has to be begun again (``WakingTimes``). Where the
/// descriptor cannot be told for certain, nothing is done, and the service is woken as any other program.
final class PoolWatch: Sendable {
    private struct State {
        var descriptor: Int32?
        var isResting = false
    }
    private let state = Mutex(State())

    /// How often a rest is tried: libdispatch may be setting the time at this moment.
    private static let attempts = 3

    /// Takes the time out.
    ///
    /// - Returns: `false` if libdispatch was setting it each time, so that it is worth another try.
    func rest() -> Bool {
        state.withLock { state in
            guard !state.isResting, let descriptor = state.descriptor ?? Self.find() else { return true }
            state.descriptor = descriptor
            for _ in 0..<Self.attempts {
                guard csystem_set_timer(descriptor, 0) == 0 else { return true }
                state.isResting = true
                usleep(1000)
                if Self.isAtRest(descriptor) { return true }
            }
            state.isResting = false
            _ = csystem_set_timer(descriptor, 1)
            return false
        }
    }

    /// Takes the time out that libdispatch has set meanwhile.
    ///
    /// - Returns: As ``rest()``.
    func restAgain() -> Bool {
        state.withLock { $0.isResting = false }
        return rest()
    }

    /// Has what waited go on.
    func wake() {
        state.withLock { state in
            guard state.isResting, let descriptor = state.descriptor else { return }
            state.isResting = false
            _ = csystem_set_timer(descriptor, 1)
        }
    }

    deinit { wake() }

    /// The one timer descriptor of this process on the clock of the uptime.
    private static func find() -> Int32? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        let timers = names.compactMap { Int32($0) }.filter { number in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
            return target == "anon_inode:[timerfd]" && field("clockid", number) == "\(CLOCK_MONOTONIC)"
        }
        return timers.count == 1 ? timers[0] : nil
    }

    private static func isAtRest(_ descriptor: Int32) -> Bool { field("it_value", descriptor) == "(0, 0)" }

    /// What the kernel says of a timer descriptor (proc_pid_fdinfo(5)).
    private static func field(_ name: String, _ descriptor: Int32) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8) else {
            return nil
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return line.map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
