// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Synchronization
import TestSupport

@testable import WriteAheadLog

/// Helpers for the tests of the log.
enum LogTest {
    static let folder = "/store/journal"

    /// Changes of every kind except put.
    static let deletions: [EncodedChange] = [
        .deleteItems(["a", "", "ä"]), .deleteDomains(["b.c"]), .deleteAll, .renameItems([ItemRename("a", to: "ä")]),
    ]

    static func store(_ seed: UInt64 = 1) -> StoreIdentifier {
        var generator = SplitMix64(seed: seed)
        let bytes = (0..<StoreIdentifier.byteCount).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return StoreIdentifier(bytes: bytes)!
    }

    /// Returns distinct entries, each a put of some bytes.
    static func entry(_ number: Int, bytes: Int = 40, state: String? = nil) -> LogEntry {
        var record = Array("item \(number) ".utf8)
        while record.count < bytes { record.append(UInt8(truncatingIfNeeded: record.count &* 31 &+ number)) }
        var batch = IndexBatch(
            scope: IndexScope(bundle: "com.example.notes", index: "notes"), clientState: state.map { Array($0.utf8) })
        batch.changes.append(record: record)
        return LogEntry(batch)
    }

    static func open(
        _ disk: LogTestDisk, applied: UInt64 = 0, segmentBytes: Int = 600, store: StoreIdentifier = store()
    ) throws(LogError) -> WriteAheadLog {
        try WriteAheadLog(
            folder: folder, store: store, applied: applied, files: disk,
            configuration: LogConfiguration(segmentBytes: segmentBytes, groupBytes: 1 << 20, markBytes: 100))
    }
}

extension WriteAheadLog {
    /// Appends entries in one group, and returns when all have succeeded or failed.
    func appendTogether(
        _ entries: [LogEntry], if precondition: Precondition? = nil
    ) async -> [Result<UInt64, LogError>] {
        ioQueue.suspend()
        let box = ResultBox()
        for (index, entry) in entries.enumerated() {
            submit(entry, if: precondition) { result in box.set(index, result) }
        }
        ioQueue.resume()
        await settle()
        return entries.indices.map { box[$0] ?? .failure(.closed) }
    }

    /// Waits until the I/O queue has finished its current work.
    func settle() async {
        await withCheckedContinuation { continuation in ioQueue.async { continuation.resume() } }
    }

    /// Returns all records, or throws the first failure.
    func records(after sequence: UInt64 = 0) throws -> [NumberedLogEntry] {
        try replay(after: sequence).map { try $0.get() }
    }
}

/// Collects the results of completions.
final class ResultBox: Sendable {
    private let results = Mutex<[Int: Result<UInt64, LogError>]>([:])

    func set(_ index: Int, _ result: Result<UInt64, LogError>) { results.withLock { $0[index] = result } }

    subscript(index: Int) -> Result<UInt64, LogError>? { results.withLock { $0[index] } }
}

extension LogFinding {
    /// `true` for damage, `false` for the traces of a crash.
    var isDamage: Bool { if case .damaged = self { true } else { false } }
}
