// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import DocumentReading
import FileDonations

/// A durable record of the PDF file that is being read, so that a file whose reading ends the
/// worker costs that file only.
///
/// The next worker finds the file in the record and adds it to the skip list. The list is emptied
/// at the end of the reindex, since something else may have ended the worker. The record is the
/// client state of a named index: a worker may write nowhere else, and the state survives it. Not
/// thread-safe: use from one thread at a time.
final class ReadingRecord {
    /// A stored client state, which has at most 250 bytes.
    struct Storage {
        var load: () -> Data?
        var store: (Data) throws -> Void
    }

    private static let version: UInt8 = 1
    /// The length of the skip list. The oldest file leaves a full list.
    static let maximumSkipped = 24

    private let storage: Storage
    private var current: UInt64 = 0
    private(set) var skipped: [UInt64] = []

    init(_ storage: Storage) {
        self.storage = storage
        guard let data = storage.load(), data.first == Self.version, data.count % 8 == 1 else { return }
        let numbers = stride(from: 1, to: data.count, by: 8).map { offset in
            data.dropFirst(offset).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        current = numbers.first ?? 0
        skipped = Array(numbers.dropFirst())
    }

    /// Adds the file that the record names as being read to the skip list. Call it when no other
    /// worker reads, at the beginning of a page of a reindex.
    func recover() throws {
        guard current != 0 else { return }
        if !skipped.contains(current) { skipped.append(current) }
        if skipped.count > Self.maximumSkipped { skipped.removeFirst() }
        try write(0)
    }

    func isSkipped(_ file: DocumentFile) -> Bool { skipped.contains(file.fingerprint) }

    /// Records that the file is being read, durably.
    func begin(_ file: DocumentFile) throws { try write(file.fingerprint) }

    /// Records that no file is being read.
    func end() throws { if current != 0 { try write(0) } }

    /// Empties the record at the end of a reindex.
    func finish() throws {
        if current == 0, skipped.isEmpty { return }
        skipped = []
        try write(0)
    }

    private func write(_ fingerprint: UInt64) throws {
        current = fingerprint
        var data = Data([Self.version])
        for number in [current] + skipped {
            data.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * UInt64($0))) })
        }
        try storage.store(data)
    }
}

extension ReadingRecord.Storage {
    /// The client state of the index `reading`. Calls block until it is durable.
    static func index(_ index: CSSearchableIndex = CSSearchableIndex(name: "reading")) -> Self {
        Self(load: { try? index.lastClientState() }, store: { try index.storeClientState($0) })
    }
}
