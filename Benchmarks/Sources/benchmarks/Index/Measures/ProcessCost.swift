// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Wall-clock time and the CPU time of all threads of this process, in seconds.
struct ProcessCost {
    var wall = 0.0
    var cpu = 0.0

    static func measure(_ body: () throws -> Void) rethrows -> ProcessCost {
        let start = now
        try body()
        return now - start
    }

    static func measure(_ body: () async throws -> Void) async rethrows -> ProcessCost {
        let start = now
        try await body()
        return now - start
    }

    /// The current readings of both clocks.
    static var now: ProcessCost {
        func seconds(_ clock: clockid_t) -> Double {
            var time = timespec()
            clock_gettime(clock, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
        }
        return ProcessCost(wall: seconds(CLOCK_MONOTONIC), cpu: seconds(CLOCK_PROCESS_CPUTIME_ID))
    }

    static func - (left: ProcessCost, right: ProcessCost) -> ProcessCost {
        ProcessCost(wall: left.wall - right.wall, cpu: left.cpu - right.cpu)
    }

    static func += (left: inout ProcessCost, right: ProcessCost) {
        left.wall += right.wall
        left.cpu += right.cpu
    }
}

/// The peak memory of this process.
enum PeakMemory {
    /// Resets the peak to the current value.
    static func reset() {
        // "5" resets the peak, see proc(5). If that is not permitted, the peak covers the whole
        // run.
        try? "5".write(toFile: "/proc/self/clear_refs", atomically: false, encoding: .utf8)
    }

    /// The peak in megabytes, including mapped files.
    static var megabytes: Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return (Double(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0) / 1024
    }
}
