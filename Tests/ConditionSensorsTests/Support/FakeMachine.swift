// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling
import Synchronization
import TestSupport

@testable import ConditionSensors

/// Folders instead of `/proc`, `/sys` and `/dev`, and clocks that a test moves.
final class FakeMachine: Sendable {
    let folder: TemporaryFolder
    let now = Clock(800_000_000)
    let elapsed = Clock(1000)
    let slept = Clock(0)

    final class Clock: Sendable {
        private let seconds: Mutex<Double>
        init(_ seconds: Double) { self.seconds = Mutex(seconds) }
        var value: Double { seconds.withLock { $0 } }
        func advance(_ duration: Double) { seconds.withLock { $0 += duration } }
    }

    init() throws {
        folder = try TemporaryFolder()
        for name in ["proc/pressure", "sys/class/power_supply", "sys/class/thermal", "dev/pts"] {
            try FileManager.default.createDirectory(atPath: folder.path(name), withIntermediateDirectories: true)
        }
    }

    /// The prefix of the names of a monitor's threads, different for each machine.
    let threadName = "t\(UInt32.random(in: 0..<UInt32.max) % 1_000_000)"

    var roots: SensorRoots {
        var roots = SensorRoots()
        (roots.proc, roots.sys, roots.dev) = (folder.path("proc"), folder.path("sys"), folder.path("dev"))
        roots.now = { [now] in now.value }
        roots.elapsed = { [elapsed] in elapsed.value }
        roots.slept = { [slept] in slept.value }
        roots.threadName = threadName
        return roots
    }

    /// Writes a file and creates its parent folders.
    func write(_ path: String, _ text: String) throws {
        let parent = (folder.path(path) as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try folder.write(Array(text.utf8), to: path)
    }

    /// Writes a file for each attribute of a device.
    func device(_ path: String, _ attributes: [String: String]) throws {
        for (name, text) in attributes { try write("\(path)/\(name)", text + "\n") }
    }

    /// Returns the conditions that one sensor alone reports.
    func conditions(_ sensor: any FileSensor) -> (conditions: Conditions, state: MonitorReport.State) {
        var readings = Readings()
        let reading = sensor.read()
        reading.apply(&readings)
        return (readings.conditions, reading.state)
    }

    /// The current threads of the monitor.
    var threads: [String] {
        let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.filter { $0.hasPrefix(threadName + "-") }
            .sorted()
    }
}

/// The conditions that a monitor reported, in order.
struct Told {
    private let stream: AsyncStream<Conditions>

    init(_ source: some ConditionSource) {
        let (stream, continuation) = AsyncStream.makeStream(of: Conditions.self)
        self.stream = stream
        source.start { continuation.yield($0) }
    }

    /// Waits for reported conditions that satisfy a predicate.
    func first(where isSought: (Conditions) -> Bool) async -> Conditions? {
        for await conditions in stream where isSought(conditions) { return conditions }
        return nil
    }
}

extension MonitorReport.State {
    var isAbsent: Bool { if case .absent = self { true } else { false } }
    var isFailed: Bool { if case .failed = self { true } else { false } }
}
