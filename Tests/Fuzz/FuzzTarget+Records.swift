// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import WriteAheadLog

extension FuzzTarget {
    private static func sampleRecord(_ number: Int) throws -> [UInt8] {
        try ItemRecord(
            uniqueIdentifier: "item \(number)", domainIdentifier: "a.b",
            attributes: [
                "title": .string("Ferry to Oslo"), "pixelHeight": .integer(5),
                "authorNames": .array([
                    .string("Anna"),
                    .person(PersonValue(displayName: "Bé", handles: ["b@c"], handleIdentifier: "emailAddress")),
                ]),
                "thumbnailData": .data([1, 2, 3]),
            ]
        ).encoded()
    }

    private static func sampleBatch() throws -> IndexBatch {
        var batch = IndexBatch(scope: IndexScope(bundle: "com.example.notes", index: "drafts"))
        batch.clientState = [1, 2, 3]
        batch.expectation = .exactly([4])
        batch.protection = .complete
        batch.changes.append(record: try sampleRecord(1))
        batch.changes.append(record: try sampleRecord(2))
        batch.delete(identifiers: ["a", "b"])
        batch.delete(domains: ["a.b"])
        batch.deleteAll()
        return batch
    }

    /// Encoded donations: in messages, in the log and in the store.
    static let records = [
        FuzzTarget(name: "itemRecord", tokens: ["\u{1}", "\u{2}", "\u{3}"], samples: { [try sampleRecord(1)] }) {
            bytes in
            guard let record = try? ItemRecord(decoding: bytes) else { return false }
            let encoded = try record.encoded()
            // NaN is not equal to itself, so the encodings are compared.
            try require(try ItemRecord(decoding: encoded).encoded() == encoded, "another record")
            return true
        },
        FuzzTarget(name: "changeList", samples: { [try sampleBatch().changes.bytes] }) { bytes in
            guard let list = try? ChangeList(decoding: bytes) else { return false }
            try require(list.changes.reduce(0) { $0 + $1.count } == list.count, "another count")
            var again = ChangeList()
            for change in list.changes { again.append(change.withRecords { Array($0) }) }
            try require(again.count == list.count, "another list")
            for case .put(let batch) in list.changes { _ = try? RecordBatch.split(Array(batch)) }
            _ = list.afterDeletingAll
            return true
        },
        FuzzTarget(name: "indexBatch", samples: { [try sampleBatch().encoded()] }) { bytes in
            guard let batch = try? bytes.withUnsafeBytes({ try IndexBatch(decoding: $0, maximumBytes: 1 << 20) }) else {
                return false
            }
            try require(try batch.encoded() == bytes, "other bytes")
            _ = try? batch.checkItems()
            return true
        },
        FuzzTarget(name: "logEntry", samples: { [try LogEntry(try sampleBatch()).encoded()] }) { bytes in
            guard let entry = try? LogEntry(decoding: bytes) else { return false }
            // Entries of version 1 are written as version 2.
            try require(try bytes[0] == 1 || entry.encoded() == bytes, "other bytes")
            return true
        },
        FuzzTarget(name: "logFile", samples: { [try await sampleSegment()] }) { bytes in
            let files = MemoryLogFiles()
            try files.open(segment, for: .create).writeAll(bytes, at: 0)
            guard let log = try? WriteAheadLog(folder: folder, store: store, applied: 0, files: files) else {
                return false
            }
            var last: UInt64 = 0
            for case .success(let entry) in log.replay(after: 0) {
                try require(entry.sequence > last, "the entry \(entry.sequence) after \(last)")
                last = entry.sequence
            }
            return last > 0
        },
    ]

    private static let folder = "log"
    private static let segment = folder + "/" + LogFileNames.segment(1)
    private static let store: StoreIdentifier = {
        guard let store = StoreIdentifier(bytes: [UInt8](repeating: 7, count: StoreIdentifier.byteCount)) else {
            preconditionFailure("not an identifier")
        }
        return store
    }()

    private static func sampleSegment() async throws -> [UInt8] {
        let files = MemoryLogFiles()
        let log = try WriteAheadLog(folder: folder, store: store, applied: 0, files: files)
        for _ in 0..<3 { _ = try await log.append(LogEntry(try sampleBatch())) }
        let file = try files.open(segment, for: .read)
        return try file.read(at: 0, count: try file.size())
    }
}
