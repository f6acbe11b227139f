// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading

/// Digests of a file's records, in 60 parts by key. After a change they show which records may
/// differ, so that rewriting a file of 10,000 records causes only a few donations.
///
/// The digests take 241 bytes, since a client state has at most 250.
package struct RecordDigests: Sendable, Equatable {
    /// The minimum number of records for which a file's digests are stored.
    package static let minimumRecords = 16
    private static let version: UInt8 = 1
    private static let count = 60

    private var parts = [UInt32](repeating: 0, count: Self.count)

    package init(_ records: [FileRecord]) {
        for record in records {
            // Added, so that the order of the records does not matter.
            let digest = FNV1a.hash(record.key.utf8) ^ record.digest &* 0x9E37_79B9_7F4A_7C15
            parts[Self.part(of: record.key)] &+= UInt32(truncatingIfNeeded: digest >> 32)
        }
    }

    /// Reads stored digests; nil if their format is unknown.
    package init?(_ data: Data) {
        guard data.count == 1 + 4 * Self.count, data.first == Self.version else { return nil }
        let bytes = Array(data.dropFirst())
        for index in parts.indices {
            parts[index] = bytes[(4 * index)..<(4 * index + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
    }

    package var data: Data {
        Data(
            [Self.version] + parts.flatMap { part in (0..<4).map { UInt8(truncatingIfNeeded: part >> (24 - 8 * $0)) } })
    }

    /// Returns `true` if the part with a key has the same records in both.
    package func hasSame(_ key: String, as other: RecordDigests) -> Bool {
        let part = Self.part(of: key)
        return parts[part] == other.parts[part]
    }

    private static func part(of key: String) -> Int { Int(FNV1a.hash(key.utf8) % UInt64(count)) }
}

/// The stored digests of files, by path.
package struct RecordStates: Sendable {
    package var load: @Sendable (_ path: String) throws -> RecordDigests?
    /// Stores digests, and returns when they are durable.
    package var store: @Sendable (_ digests: RecordDigests, _ path: String) throws -> Void

    package init(
        load: @escaping @Sendable (String) throws -> RecordDigests?,
        store: @escaping @Sendable (RecordDigests, String) throws -> Void
    ) {
        (self.load, self.store) = (load, store)
    }

    /// Each file has a named index without items. Its client state holds the file's digests, so
    /// losing the items also loses the digests.
    package static let inIndex = RecordStates(
        load: { try index(of: $0).lastClientState().flatMap { RecordDigests($0) } },
        store: { try index(of: $1).storeClientState($0.data) })

    private static func index(of path: String) -> CSSearchableIndex {
        CSSearchableIndex(name: "records-" + String(FNV1a.hash(path.utf8), radix: 16))
    }
}
