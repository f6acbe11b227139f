// SPDX-License-Identifier: Apache-2.0
import Synchronization
import TestSupport
import Testing

@testable import WriteAheadLog

/// Applies random operations to a log on a failing disk, and tracks the expected content.
struct LogCrashModel {
    let disk: LogTestDisk
    var generator: SplitMix64
    var log: WriteAheadLog?
    /// The acknowledged entries, by number.
    var acknowledged: [UInt64: LogEntry] = [:]
    /// The submitted entries that are neither acknowledged nor reported as failed, in order of
    /// submission.
    var inFlight: [LogEntry] = []
    /// The entries reported as failed since the last acknowledgement, in order of submission.
    var failed: [LogEntry] = []
    var applied: UInt64 = 0
    var submitted = 0

    var last: UInt64 { acknowledged.keys.max() ?? 0 }

    init(seed: UInt64) {
        disk = LogTestDisk(seed: seed &+ 1000)
        generator = SplitMix64(seed: seed)
    }

    /// Opens the log and compares its content. Does nothing if the program stops while opening it.
    mutating func open() throws {
        log = nil
        do {
            log = try LogTest.open(disk, applied: applied)
        } catch {
            return
        }
        try checkAfterOpening()
    }

    private mutating func checkAfterOpening() throws {
        guard let log else { return }
        let damage = log.findings.filter(\.isDamage)
        try #require(damage.isEmpty, "a crash looks like damage: \(damage)")
        guard let records = try records(log) else {
            // The program stopped before the log was used.
            self.log = nil
            return
        }
        try #require(records.map(\.sequence) == records.indices.map { applied + 1 + UInt64($0) })
        let found = applied + UInt64(records.count)
        try #require(found >= last, "acknowledged entries are lost: \(found) of \(last)")
        var rest = failed + inFlight
        for record in records {
            if let entry = acknowledged[record.sequence] {
                try #require(record.entry == entry, "entry \(record.sequence) is another one")
            } else {
                // A suffix of the unacknowledged entries, in order of submission.
                let index = try #require(rest.firstIndex(of: record.entry), "an entry from nowhere, or twice")
                rest.removeSubrange(...index)
                acknowledged[record.sequence] = record.entry
            }
        }
        inFlight = []
        failed = []
    }

    /// Returns the readable entries; `nil` if the program stops during the read.
    private func records(_ log: WriteAheadLog) throws -> [NumberedLogEntry]? {
        do {
            return try log.records(after: applied)
        } catch  where disk.isStopped {
            return nil
        }
    }

    /// Checks that exactly the acknowledged entries are readable when there was no crash.
    func checkWhileOpen() throws {
        guard let log, !disk.isStopped else { return }
        guard let records = try records(log) else { return }
        let expected = acknowledged.filter { $0.key > applied }.sorted { $0.key < $1.key }
        try #require(records == expected.map { NumberedLogEntry(sequence: $0.key, entry: $0.value) })
        try #require(log.lastSequence == max(last, applied))
    }

    mutating func appendGroup() async throws {
        guard let log else { return }
        let entries = (0..<(1 + generator.below(4))).map { offset in
            // Some entries span several sectors, so that part of an entry can be lost.
            LogTest.entry(submitted + offset, bytes: generator.below(6) == 0 ? 1500 : 20 + generator.below(60))
        }
        submitted += entries.count
        for (entry, result) in zip(entries, await log.appendTogether(entries)) {
            switch result {
            case .success(let sequence):
                try #require(acknowledged[sequence] == nil)
                try #require(sequence == last + 1, "numbers follow the order of acceptance")
                acknowledged[sequence] = entry
                failed = []
            case .failure where disk.isStopped: inFlight.append(entry)
            case .failure: failed.append(entry)
            }
        }
    }

    /// Takes a random step. Returns early once the disk has stopped.
    mutating func step() async throws {
        switch generator.below(10) {
        case 0:
            if last > applied { applied += 1 + UInt64(generator.below(Int(last - applied))) }
            try? await log?.discard(through: applied)
        case 1:
            try? await log?.close()
            try open()
        default: try await appendGroup()
        }
        try checkWhileOpen()
    }

    mutating func run(steps: Int) async throws {
        if log == nil { try open() }
        for _ in 0..<steps where !disk.isStopped {
            if log == nil { try open() }
            try await step()
        }
    }

    /// Ends the program. Bytes that were not synchronised may be lost.
    mutating func crash(losing loss: LogTestDisk.Loss) async {
        await log?.settle()
        log = nil
        disk.crash(losing: loss)
    }
}
