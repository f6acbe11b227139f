// SPDX-License-Identifier: Apache-2.0
import Foundation
import ItemRecord
import SystemSupport
import TestSupport
import WriteAheadLog

/// Compares the write-ahead log with a second SQLite database that holds the entries as blobs: the
/// rate of durable appends, the processor time and the written bytes of one append, and the time to
/// open the log and read everything. The two alternate on the same disk.
struct LogBenchmarks {
    let seed: UInt64
    /// Removed at the end, and before, in case that an earlier run was killed.
    private let folder: String

    init(folder: String, seed: UInt64) { (self.folder, self.seed) = (folder + "/log", seed) }

    private static let rounds = 9
    /// The appends of all tasks of one round.
    private static let appends = 600

    /// The rates of both designs in each round, and their costs.
    private struct Comparison {
        var log: [Double] = []
        var database: [Double] = []
    }

    func run() async throws -> [Measurement] {
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let entries = try entries()
        let payload = try entries[0].encoded().count
        let log = try WriteAheadLog(folder: folder + "/log", store: StoreIdentifier(), applied: 0)
        let database = try LogDatabase(path: folder + "/log.sqlite")
        let blobs = try entries.map { try $0.encoded() }
        var measurements: [Measurement] = []
        for tasks in [1, 8, 50] {
            var (rate, cpu, written) = (Comparison(), Comparison(), Comparison())
            for _ in 0...Self.rounds {
                let own = try await cost(tasks) { _ = try await log.append(entries[$0]) }
                let other = try await cost(tasks) { try await database.append(blobs[$0]) }
                rate.log.append(own.rate)
                rate.database.append(other.rate)
                cpu.log.append(own.cpu)
                cpu.database.append(other.cpu)
                written.log.append(own.written)
                written.database.append(other.written)
                try await log.discard(through: log.lastSequence)
                try database.discardAll()
            }
            let who = tasks == 1 ? "one task" : "\(tasks) tasks"
            measurements += [
                measurement("durable appends of \(payload) bytes, \(who)", "/s", rate),
                measurement("processor time of one, \(who)", "µs", cpu),
                measurement("bytes written to the disk for one, \(who)", "KiB", written),
            ]
        }
        measurements.append(measurement("opening, and reading 1,500 entries", "ms", try await opening(entries, blobs)))
        try await log.close()
        return measurements
    }

    private func measurement(_ name: String, _ unit: String, _ comparison: Comparison) -> Measurement {
        // The first round is warm-up.
        Measurement(
            name: name, value: Percentiles(Array(comparison.log.dropFirst())).p50, unit: unit,
            baseline: "a second SQLite database",
            baselineValue: Percentiles(Array(comparison.database.dropFirst())).p50)
    }

    /// Batches of ten items of about 1 KB each.
    private func entries() throws -> [LogEntry] {
        var random = SplitMix64(seed: seed)
        return (0..<64).map { number in
            var batch = IndexBatch(
                scope: IndexScope(bundle: "com.example.notes", index: "notes"), clientState: Array("\(number)".utf8))
            for _ in 0..<10 {
                batch.changes.append(record: (0..<1024).map { _ in UInt8(truncatingIfNeeded: random.next()) })
            }
            return LogEntry(batch)
        }
    }

    /// Runs appends from some tasks. Returns appends a second, and for one append its processor
    /// time in µs and the KiB that the process wrote.
    private func cost(
        _ tasks: Int, _ append: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> (rate: Double, cpu: Double, written: Double) {
        let each = Self.appends / tasks
        let before = try WrittenBytes.ofThisProcess()
        let cost = try await ProcessCost.measure {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<tasks {
                    group.addTask { for number in 0..<each { try await append((task + number) % 64) } }
                }
                try await group.waitForAll()
            }
        }
        let count = Double(each * tasks)
        let written = Double(try WrittenBytes.ofThisProcess() - before) / 1024
        return (count / cost.wall, cost.cpu * 1e6 / count, written / count)
    }

    /// Opens filled logs and reads their entries.
    private func opening(_ entries: [LogEntry], _ blobs: [[UInt8]]) async throws -> Comparison {
        var times = Comparison()
        let store = StoreIdentifier()
        let count = 1500
        do {
            let log = try WriteAheadLog(folder: folder + "/full", store: store, applied: 0)
            let database = try LogDatabase(path: folder + "/full.sqlite")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<count {
                    group.addTask {
                        _ = try await log.append(entries[number % 64])
                        try await database.append(blobs[number % 64])
                    }
                }
                try await group.waitForAll()
            }
            try await log.close()
        }
        for _ in 0...Self.rounds {
            let own = try await ProcessCost.measure {
                let log = try WriteAheadLog(folder: folder + "/full", store: store, applied: 0)
                var read = 0
                for entry in log.replay(after: 0) {
                    _ = try entry.get()
                    read += 1
                }
                guard read == count else { throw BenchmarkError("The log has \(read) of \(count) entries.") }
                try await log.close()
            }
            let other = try ProcessCost.measure {
                let read = try LogDatabase(path: folder + "/full.sqlite").readAll()
                guard read == (0..<count).reduce(0, { $0 + blobs[$1 % 64].count }) else {
                    throw BenchmarkError("The database lacks entries.")
                }
            }
            times.log.append(own.wall * 1000)
            times.database.append(other.wall * 1000)
        }
        return times
    }
}

/// The bytes that this process caused to be written to storage, as /proc/self/io counts them.
enum WrittenBytes {
    static func ofThisProcess() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/io", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("write_bytes:") } ?? ""
        guard let count = Int(line.split(separator: " ").last ?? "") else {
            throw BenchmarkError("/proc/self/io has no write_bytes.")
        }
        return count
    }
}
