// SPDX-License-Identifier: Apache-2.0

/// The value of a key column, as part of an identifier and of a cursor.
package enum RowKey: Hashable, Sendable {
    case integer(Int64)
    case text(String)

    /// Creates the key for a value; `nil` for NULL, text that is empty, too long or contains a NUL,
    /// bytes, and fractions.
    package init?(_ value: RowValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .text(let text)
        where (1...DatabaseLimits.keyBytes).contains(text.utf8.count) && !text.utf8.contains(0):
            self = .text(text)
        case .null, .real, .text, .blob: return nil
        }
    }

    /// The key as it appears in an identifier.
    package var text: String {
        switch self {
        case .integer(let number): "\(number)"
        case .text(let text): text
        }
    }

    /// Returns the keys that the text in an identifier may represent, most likely first.
    package static func candidates(_ text: String) -> [RowKey] {
        let keys: [RowKey?] = [Int64(text).flatMap { "\($0)" == text ? .integer($0) : nil }, RowKey(.text(text))]
        return keys.compactMap(\.self)
    }

    package var value: RowValue {
        switch self {
        case .integer(let number): .integer(number)
        case .text(let text): .text(text)
        }
    }
}

/// The source of an item: the database file, the kind, and the row.
package struct RowIdentifier: Hashable, Sendable {
    /// The tag of the file (``tag(of:in:)``); empty if only one file is possible.
    package var file: String
    package var item: String
    package var key: String

    package init(file: String, item: String, key: String) {
        (self.file, self.item, self.key) = (file, item, key)
    }

    /// Reads an identifier.
    ///
    /// - Parameter hasTags: `true` if identifiers begin with a file's tag.
    package init?(_ text: String, hasTags: Bool) {
        let parts = text.split(separator: "/", maxSplits: hasTags ? 2 : 1, omittingEmptySubsequences: false)
            .map(String.init)
        guard parts.count == (hasTags ? 3 : 2), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        self.init(file: hasTags ? parts[0] : "", item: parts[parts.count - 2], key: parts[parts.count - 1])
    }

    /// The item's identifier.
    package var text: String { (file.isEmpty ? "" : file + "/") + item + "/" + key }
    /// The item's domain: the file, followed by the kind.
    package var domain: String { (file.isEmpty ? "" : file + ".") + item }

    /// Returns the tag of a file: sixteen digits from a hash of its path.
    package static func tag(of path: String) -> String {
        let digits = String(RowHash.of(path.utf8), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}

/// A hash that is the same in every process (FNV-1a with a final mix).
package enum RowHash {
    package static func of(_ bytes: some Sequence<UInt8>, seed: UInt64 = 0) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return mixed(hash)
    }

    /// Spreads each bit over all bits (MurmurHash3's final steps).
    static func mixed(_ value: UInt64) -> UInt64 {
        var hash = value
        hash = (hash ^ hash >> 33) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ hash >> 33) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ hash >> 33
    }
}

/// The digests of the rows in one file, in as many parts as fit into a client state. A part's
/// digest changes if one of its rows is added, changed or removed.
package struct RowDigests: Hashable, Sendable {
    /// The number of parts: 31 parts of 8 bytes and a version byte fit into a client state of 250
    /// bytes.
    package static let parts = 31
    private static let version: UInt8 = 1
    private var sums = [UInt64](repeating: 0, count: parts)
    /// The seed for all hashes. It depends on the manifest's text, so a different manifest gives
    /// different digests.
    private let seed: UInt64

    /// Creates the digests of an empty set of rows.
    package init(of binding: DatabaseBinding) { seed = RowHash.of(binding.json.utf8) }

    /// Reads digests; `nil` if the format of the bytes is unknown.
    package init?(_ bytes: some Collection<UInt8>, of binding: DatabaseBinding) {
        self.init(of: binding)
        guard bytes.count == 1 + 8 * Self.parts, bytes.first == Self.version else { return nil }
        var rest = bytes.dropFirst()
        for part in 0..<Self.parts {
            sums[part] = rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            rest = rest.dropFirst(8)
        }
    }

    /// The digests, encoded as a client state.
    package var bytes: [UInt8] {
        var bytes = [Self.version]
        for sum in sums {
            for shift in stride(from: 56, through: 0, by: -8) {
                bytes.append(UInt8(truncatingIfNeeded: sum >> UInt64(shift)))
            }
        }
        return bytes
    }

    /// Returns the part that an item belongs to.
    package static func part(of identifier: String) -> Int {
        Int(RowHash.of(identifier.utf8) % UInt64(parts))
    }

    /// Adds a row.
    ///
    /// - Parameter values: The values that change when the row changes.
    package mutating func add(_ identifier: String, _ values: [RowValue]) {
        var hash = seed ^ RowHash.of(identifier.utf8)
        for value in values { hash = RowHash.mixed(hash &* 31 &+ Self.hash(value)) }
        sums[Self.part(of: identifier)] &+= hash
    }

    private static func hash(_ value: RowValue) -> UInt64 {
        switch value {
        case .null: 1
        case .integer(let number): RowHash.mixed(UInt64(bitPattern: number) &+ 2)
        case .real(let number): RowHash.mixed(number.bitPattern &+ 3)
        case .text(let text): RowHash.of(text.utf8, seed: 4)
        case .blob(let bytes): RowHash.of(bytes, seed: 5)
        }
    }

    /// Returns the parts in which two sets of digests differ.
    package func differences(from other: RowDigests) -> Set<Int> {
        Set((0..<Self.parts).filter { sums[$0] != other.sums[$0] })
    }
}
