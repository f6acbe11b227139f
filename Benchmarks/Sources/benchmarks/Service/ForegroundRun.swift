// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// What a stretch of foreground work brought, and who else had the processors meanwhile.
struct ForegroundRun {
    /// Rounds a second.
    let rate: Double
    /// The same for each half second, to see when it was kept from work.
    let halves: [Double]
    /// What it used of the processors itself, in seconds. As much as ever and fewer rounds: the machine was slower.
    let own: Double
    /// What all but this process used of the processors: the service, its workers, the kernel; in seconds.
    let others: Double
    /// What the hypervisor gave to other machines, in seconds of a processor.
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

/// What the processors of the machine did, since it was started, in seconds of one.
private struct MachineTimes {
    var used = 0.0
    var stolen = 0.0

    init() {
        let text = (try? String(contentsOfFile: "/proc/stat", encoding: .utf8)) ?? ""
        let ticks = text.prefix { $0 != "\n" }.split(separator: " ").dropFirst().compactMap { Double($0) }
        // proc(5): user, nice, system, idle, iowait, irq, softirq, steal, of which user has guest's.
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
