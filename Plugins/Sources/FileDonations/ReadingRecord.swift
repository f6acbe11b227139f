// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

/// A durable record of the file that is being read, so that a file whose reading ends the worker
/// costs that file only.
///
/// The next worker finds the file in the record and adds it to the skip list. An extension with
/// many such files records only that a page is in progress; if the worker ends, the next one is
/// careful and records each file. The list is emptied
/// at the end of the reindex, since something else may have ended the worker. The record is the
/// client state of a named index: a worker may write nowhere else, and the state survives it. Not
/// thread-safe: use from one thread at a time.
package final class ReadingRecord {
    /// A stored client state, which has at most 250 bytes.
    package struct Storage {
        package var load: () -> Data?
        package var store: (Data) throws -> Void

        package init(load: @escaping () -> Data?, store: @escaping (Data) throws -> Void) {
            self.load = load
            self.store = store
        }
    }

    private static let version: UInt8 = 1
    /// The length of the skip list. The oldest file leaves a full list.
    package static let maximumSkipped = 24

    private let storage: Storage
    private var current: UInt64 = 0
    package private(set) var skipped: [UInt64] = []
    /// `true` if an earlier worker ended during a page, so that each file is recorded.
    package private(set) var isCareful = false

    /// The number for a page in progress, which is no fingerprint.
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

    /// Adds the file that the record names as being read to the skip list. Call it when no other
    /// worker reads, at the beginning of a page of a reindex.
    package func recover() throws {
        guard current != 0 else { return }
        isCareful = true
        if current == Self.page { return }
        if !skipped.contains(current) { skipped.append(current) }
        if skipped.count > Self.maximumSkipped { skipped.removeFirst() }
        try write(0)
    }

    package func isSkipped(_ fingerprint: UInt64) -> Bool { skipped.contains(fingerprint) }

    /// Records that a page is in progress, durably.
    package func beginPage() throws { if !isCareful { try write(Self.page) } }

    /// Records that the file is being read, durably.
    package func begin(_ fingerprint: UInt64) throws { try write(fingerprint) }

    /// Records that no file is being read.
    package func end() throws { if current != 0 { try write(0) } }

    /// Empties the record at the end of a reindex.
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
    /// The client state of the index `reading`. Calls block until it is durable.
    package static func index(_ index: CSSearchableIndex = CSSearchableIndex(name: "reading")) -> Self {
        Self(load: { try? index.lastClientState() }, store: { try index.storeClientState($0) })
    }
}
