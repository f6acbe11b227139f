// SPDX-License-Identifier: Apache-2.0

extension CoreTable {
    /// The sizes of the hash tables. They are powers of two, so that hashes can be masked; about
    /// half of the slots remain empty.
    static let identifierSlotCount = 2048
    static let tagSlotCount = 2048

    /// Returns the 64-bit FNV-1a hash.
    static func hash(_ bytes: UnsafeBufferPointer<UInt8>, seed: UInt64 = 0xCBF2_9CE4_8422_2325) -> Int {
        var hash = seed
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        // The low bits of FNV are poorly mixed for short keys.
        return Int(truncatingIfNeeded: (hash ^ (hash >> 29)) & 0x7FFF_FFFF)
    }

    /// Returns `true` if two byte sequences are equal.
    static func equal(_ one: UnsafeBufferPointer<UInt8>, _ other: UnsafeBufferPointer<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        for position in 0..<one.count where one[position] != other[position] { return false }
        return true
    }

    /// Returns the items of a list field.
    static func items(_ bytes: UnsafeBufferPointer<UInt8>) -> [UnsafeBufferPointer<UInt8>] {
        guard !bytes.isEmpty else { return [] }
        var items: [UnsafeBufferPointer<UInt8>] = []
        var start = 0
        for position in 0...bytes.count where position == bytes.count || bytes[position] == UInt8(ascii: ",") {
            items.append(UnsafeBufferPointer(rebasing: bytes[start..<position]))
            start = position + 1
        }
        return items
    }

    static func find(
        _ name: UnsafeBufferPointer<UInt8>, slots: [UInt16], identifier: (Int) -> UnsafeBufferPointer<UInt8>
    ) -> CoreIndex? {
        var slot = hash(name) & (slots.count - 1)
        while slots[slot] != emptySlot {
            if equal(identifier(Int(slots[slot])), name) { return slots[slot] }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Computes the closure rows. The generator's data contains no cycles (a test checks this). A
    /// cycle would result in a partial row, not in endless recursion.
    static func closure(parents: [CoreIndex], starts: [UInt16], columns: [UInt8]) -> [UInt64] {
        var rows = [UInt64](repeating: 0, count: columns.count * rowWords)
        var visited = [Bool](repeating: false, count: columns.count)
        func visit(_ type: Int) {
            guard !visited[type] else { return }
            visited[type] = true
            if columns[type] != noColumn {
                rows[type * rowWords + Int(columns[type] >> 6)] |= 1 << UInt64(columns[type] & 63)
            }
            for position in Int(starts[type])..<Int(starts[type + 1]) {
                let parent = Int(parents[position])
                visit(parent)
                for word in 0..<rowWords { rows[type * rowWords + word] |= rows[parent * rowWords + word] }
            }
        }
        for type in 0..<columns.count { visit(type) }
        return rows
    }
}
