// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// The result of a run of foreground work, with the processor time of other processes.
struct ForegroundRun {
    /// The number of rounds per second.
    let rate: Double
    /// The rate in each half second, which shows when the work was delayed.
    let halves: [Double]
    /// This process's CPU time, in seconds. If the CPU time is normal but there are fewer rounds,
    /// the machine was slower.
    let own: Double
    /// The CPU time of everything else (the service, its workers, the kernel), in seconds.
    let others: Double
    /// The CPU time that the hypervisor gave to other machines, in seconds.
    let stolen: Double

    static func measure(_ work: any ForegroundWork, for span: Duration) throws -> ForegroundRun {
        let (times, own) = (MachineTimes(), ProcessCost.now)
        let done = try work.run(for: span)
        let (used, ownUsed) = (MachineTimes() - times, ProcessCost.now - own)
        return ForegroundRun(
            rate: done.rate, halves: done.halves, own: ownUsed.cpu, others: max(0, used.used - ownUsed.cpu),
            stolen: used.stolen)
    }

    var description: String {
        let shares = halves.map { String(format: "%.0f", 100 * $0 / (halves.max() ?? 1)) }.joined(separator: " ")
        let times = String(format: "%.2f s used, %.2f s by others, %.2f s stolen", own, others, stolen)
        return String(format: "%.1f rounds a second; ", rate) + times + "; each half second, of the best: \(shares) %"
    }
}

/// The machine's CPU times since it started, in seconds of one processor.
private struct MachineTimes {
    var used = 0.0
    var stolen = 0.0

    init() {
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        let ticks = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        // proc(5): user, nice, system, idle, iowait, irq, softirq, steal; user includes guest.
        guard ticks.count >= 8 else { return }
        let second = Double(sysconf(Int32(_SC_CLK_TCK)))
        used = (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / second
        stolen = ticks[7] / second
    }

    static func - (left: MachineTimes, right: MachineTimes) -> MachineTimes {
        var difference = left
        difference.used -= right.used
        difference.stolen -= right.stolen
        return difference
    }
}
