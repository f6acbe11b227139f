// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import SystemSupport
import Foundation
import TestSupport
import Testing

@testable import WriteAheadLog

/// Rates on this machine's disk, beside one `fdatasync` per append. They need an optimised build
/// and an idle machine: `SEARCHLIGHT_MEASURE=1 swift test -c release -Xswiftc -enable-testing
/// --filter LogPerformance`
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["SEARCHLIGHT_MEASURE"] != nil))
struct LogPerformanceTests {
    /// A batch of ten items of about 1 KB, with its client state.
    private static func batch(_ number: Int) -> LogEntry {
        var generator = SplitMix64(seed: UInt64(number))
        var batch = IndexBatch(
            scope: IndexScope(bundle: "com.example.notes", index: "notes"), clientState: Array("\(number)".utf8))
        for _ in 0..<10 {
            batch.changes.append(record: (0..<1024).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
        }
        return LogEntry(batch)
    }

    private static let batches = (0..<64).map { batch($0) }

    private static func seconds(_ body: () async throws -> Void) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await body()
        let elapsed = clock.now - start
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    }

    /// Appends per second, from this number of tasks.
    private static func rate(appenders: Int, _ log: WriteAheadLog) async throws -> Double {
        let each = appenders == 1 ? 600 : 60
        let time = try await seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<appenders {
                    group.addTask {
                        for number in 0..<each { _ = try await log.append(batches[number % batches.count]) }
                    }
                }
                try await group.waitForAll()
            }
        }
        return Double(appenders * each) / time
    }

    /// The same bytes, one write and one `fdatasync` per append.
    private static func baseline(_ path: String) async throws -> Double {
        let file = try SystemLogFiles().open(path, for: .create)
        let payloads = try batches.map { try $0.encoded() }
        var offset = 0
        let count = 600
        let time = try await seconds {
            for number in 0..<count {
                let payload = payloads[number % payloads.count]
                try file.writeAll(payload, at: offset)
                try file.synchronize()
                offset += payload.count
            }
        }
        return Double(count) / time
    }

    @Test("Group commit: 50 concurrent appenders reach several times the rate of one fdatasync for each append")
    func appendRate() async throws {
        let folder = try TemporaryFolder()
        let log = try WriteAheadLog(folder: folder.path("journal"), store: LogTest.store(), applied: 0)
        _ = try await Self.rate(appenders: 1, log)
        var ratios: [(one: Double, fifty: Double)] = []
        for _ in 0..<5 {
            let base = try await Self.baseline(folder.path("baseline"))
            let one = try await Self.rate(appenders: 1, log)
            let before = log.statistics.groups
            let fifty = try await Self.rate(appenders: 50, log)
            let size = 3000.0 / Double(log.statistics.groups - before)
            print(
                String(
                    format:
                        "one fdatasync an append %6.0f/s; 1 appender %6.0f/s (%.2f); 50 %6.0f/s (%.1f), %.0f a group",
                    base, one, one / base, fifty, fifty / base, size))
            ratios.append((one / base, fifty / base))
            try await log.discard(through: log.lastSequence)
        }
        #expect(ratios.map(\.fifty).sorted()[2] >= 3)
        #expect(ratios.map(\.one).sorted()[2] >= 0.6)
    }

    @Test("Opening and reading a full segment")
    func openRate() async throws {
        let folder = try TemporaryFolder()
        let configuration = LogConfiguration()
        do {
            let log = try WriteAheadLog(folder: folder.path("journal"), store: LogTest.store(), applied: 0)
            for number in 0..<(configuration.segmentBytes / 10_400) { _ = try await log.append(Self.batch(number)) }
        }
        var log: WriteAheadLog?
        let opening = try await Self.seconds {
            log = try WriteAheadLog(folder: folder.path("journal"), store: LogTest.store(), applied: 0)
        }
        let opened = try #require(log)
        var count = 0
        let reading = try await Self.seconds { count = try opened.records().count }
        print(
            String(
                format: "opening %.1f MB: %.1f ms; reading %d batches: %.1f ms", Double(opened.statistics.bytes) / 1e6,
                opening * 1000, count, reading * 1000))
        #expect(opening < 0.05)
        let bytes = [UInt8](repeating: 1, count: 64 << 20)
        let checksum = try await Self.seconds { #expect(CRC32C.of(bytes) != 0) }
        print(String(format: "CRC-32C: %.2f GB/s", Double(bytes.count) / 1e9 / checksum))
    }
}
