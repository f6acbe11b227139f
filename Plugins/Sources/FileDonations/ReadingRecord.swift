// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

/// A durable record of the file that is being read, so that a file that makes the worker crash or
/// be killed costs only that file.
///
/// The next worker finds the file in the record and adds it to the skip list. An extension with
/// many files records only that a page is in progress. If the worker does not finish the page, the
/// next worker records each file. The list is cleared at the end of a reindex, since the worker may
/// have exited for another reason. The record is the client state of a named index, because a
/// worker may write nowhere else and the state outlives the worker. Not thread-safe: use from one
/// thread at a time.
package final class ReadingRecord {
    /// A stored client state of at most 250 bytes.
    package struct Storage {
        package var load: () -> Data?
        package var store: (Data) throws -> Void

        package init(load: @escaping () -> Data?, store: @escaping (Data) throws -> Void) {
            self.load = load
            self.store = store
        }
    }

    private static let version: UInt8 = 1
    /// The maximum number of files in the skip list. If the list is full, the oldest file is
    /// dropped.
    package static let maximumSkipped = 24

    private let storage: Storage
    private var current: UInt64 = 0
    package private(set) var skipped: [UInt64] = []
    /// `true` if an earlier worker did not finish a page, so that each file is recorded.
    package private(set) var isCareful = false

    /// The value for a page in progress, which is not a valid fingerprint.
    private static let page: UInt64 = 1

    package init(_ storage: Storage) {
        self.storage = storage
        guard let data = storage.load(), data.first == Self.version, data.count % 8 == 1 else { return }
        let numbers = stride(from: 1, to: data.count, by: 8).map { offset in
            data.dropFirst(offset).prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        current = numbers.first ?? 0
        skipped = Array(numbers.dropFirst())
    }

    /// Adds the file that was being read, according to the record, to the skip list. Call this at
    /// the beginning of a reindex page, when no other worker is reading.
    package func recover() throws {
        guard current != 0 else { return }
        isCareful = true
        if current == Self.page { return }
        if !skipped.contains(current) { skipped.append(current) }
        if skipped.count > Self.maximumSkipped { skipped.removeFirst() }
        try write(0)
    }

    package func isSkipped(_ fingerprint: UInt64) -> Bool { skipped.contains(fingerprint) }

    /// Durably records that a page is in progress.
    package func beginPage() throws { if !isCareful { try write(Self.page) } }

    /// Durably records that the file is being read.
    package func begin(_ fingerprint: UInt64) throws { try write(fingerprint) }

    /// Records that no file is being read.
    package func end() throws { if current != 0 { try write(0) } }

    /// Clears the record at the end of a reindex.
    package func finish() throws {
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
    /// Returns the client state of the index `reading`. Calls block until it is durable.
    package static func index(_ index: CSSearchableIndex = CSSearchableIndex(name: "reading")) -> Self {
        Self(load: { try? index.lastClientState() }, store: { try index.storeClientState($0) })
    }
}
