// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import Foundation
import Glibc
import IdleScheduling

/// Measures the cost of the sensors on this machine, and prints their readings:
///
///     ConditionProbe look [COUNT]        the duration of a reading
///     ConditionProbe wait [SECONDS]      the wake-ups of the threads of a waiting monitor
///     ConditionProbe modes               threads and descriptors in each mode, one line for each step
///     ConditionProbe                     the conditions of the machine
@main
enum ConditionProbe {
    static func main() {
        let arguments = CommandLine.arguments.dropFirst()
        let roots = SensorRoots.machine(environment: ProcessInfo.processInfo.environment)
        let number = arguments.dropFirst().first.flatMap { Int($0) }
        let monitor = ConditionMonitor(roots: roots, store: FileManager.default.currentDirectoryPath)
        switch arguments.first {
        case "look": measureLooks(monitor, max(number ?? 1000, 1))
        case "wait": measureWaiting(monitor, max(number ?? 60, 1))
        case "modes": showModes(monitor)
        default: show(monitor)
        }
    }

    private static func measureLooks(_ monitor: ConditionMonitor, _ count: Int) {
        monitor.sense(.waiting)
        monitor.look()
        var times: [Duration] = []
        for _ in 0..<count { times.append(ContinuousClock().measure { monitor.look() }) }
        times.sort()
        print("\(count) looks: median \(times[count / 2]), p95 \(times[count * 95 / 100]), most \(times[count - 1])")
    }

    /// Waits on this thread, which is not counted.
    private static func measureWaiting(_ monitor: ConditionMonitor, _ seconds: Int) {
        monitor.start { _ in }
        monitor.sense(.waiting)
        monitor.look()
        sleep(2)
        let before = switches()
        sleep(UInt32(seconds))
        let after = switches()
        let count = after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) }
        print("\(after.count) threads besides this one, woken \(count) times in \(seconds) s")
    }

    /// Returns the number of context switches of each thread except the first.
    private static func switches() -> [String: Int] {
        var counts: [String: Int] = [:]
        for task in tasks() where task != "\(getpid())" {
            let status = (try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8)) ?? ""
            let lines = status.split(separator: "\n").filter { $0.contains("ctxt_switches") }
            counts[task] = lines.reduce(0) { $0 + (Int($1.split(separator: "\t").last ?? "") ?? 0) }
        }
        return counts
    }

    private static func tasks() -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    }

    private static func showModes(_ monitor: ConditionMonitor) {
        monitor.look()
        for mode in [SchedulerAction.Sensing.off, .waiting, .running, .waiting, .running, .off] {
            monitor.sense(mode)
            monitor.look()
            // Threads that are ending exit by themselves soon.
            for _ in 0..<2000 where mode == .off && tasks().count > 1 { usleep(1000) }
            let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
            // One descriptor belongs to the folder itself.
            print("\(mode.rawValue) \(tasks().count) threads \(descriptors.count - 1) descriptors")
        }
    }

    private static func show(_ monitor: ConditionMonitor) {
        monitor.sense(.running)
        monitor.look()
        usleep(500_000)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        for value in [monitor.look(), monitor.report()] as [any Encodable] {
            print((try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "")
        }
    }
}
