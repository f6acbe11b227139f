// SPDX-License-Identifier: Apache-2.0

/// The distinct stems of an item, numbered in the order in which they are added. Their bytes are in
/// one buffer, because a dictionary of strings would allocate and hash for each word of a text.
struct StemTable {
    private var bytes: [UInt8] = []
    /// The end of each stem in ``bytes``.
    private var ends: [Int] = []
    private var hashes: [UInt64] = []
    /// The number of the stem plus 1 in each slot, and 0 in an empty slot. The number of slots is a
    /// power of two and more than twice the number of stems.
    private var slots: [UInt32]
    /// A random number, so that no text can be made whose stems collide.
    private let secret: UInt64

    private static let fewestSlots = 256

    init(secret: UInt64 = .random(in: .min ... .max)) {
        self.secret = secret | 1
        slots = Array(repeating: 0, count: Self.fewestSlots)
    }

    /// The number of stems.
    var count: Int { ends.count }

    /// Returns the bytes of the stem with a number.
    func stem(_ number: Int) -> ArraySlice<UInt8> { bytes[(number == 0 ? 0 : ends[number - 1])..<ends[number]] }

    /// Returns the number of a stem, and adds the stem with the next number if it is new.
    mutating func number(of stem: UnsafeBufferPointer<UInt8>) -> Int {
        let hash = hash(stem)
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let number = Int(slots[slot]) - 1
            if hashes[number] == hash, self.stem(number).elementsEqual(stem) { return number }
            slot = (slot + 1) & (slots.count - 1)
        }
        bytes.append(contentsOf: stem)
        ends.append(bytes.count)
        hashes.append(hash)
        slots[slot] = UInt32(ends.count)
        if ends.count * 2 >= slots.count { grow() }
        return ends.count - 1
    }

    /// Removes all stems.
    mutating func removeAll(keepingCapacity: Bool) {
        if keepingCapacity {
            for number in ends.indices {
                var slot = Int(truncatingIfNeeded: hashes[number]) & (slots.count - 1)
                // A slot on the way may be empty already.
                while slots[slot] != UInt32(number + 1) { slot = (slot + 1) & (slots.count - 1) }
                slots[slot] = 0
            }
        } else {
            slots = Array(repeating: 0, count: Self.fewestSlots)
        }
        bytes.removeAll(keepingCapacity: keepingCapacity)
        ends.removeAll(keepingCapacity: keepingCapacity)
        hashes.removeAll(keepingCapacity: keepingCapacity)
    }

    private mutating func grow() {
        slots = Array(repeating: 0, count: slots.count * 4)
        for (number, hash) in hashes.enumerated() {
            var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = UInt32(number + 1)
        }
    }

    /// Multiplies eight bytes at a time with the secret, and mixes both halves of the product.
    private func hash(_ stem: UnsafeBufferPointer<UInt8>) -> UInt64 {
        func mixed(_ hash: UInt64, _ word: UInt64) -> UInt64 {
            let product = (hash ^ word).multipliedFullWidth(by: secret)
            return product.high ^ product.low
        }
        let raw = UnsafeRawBufferPointer(stem)
        var (hash, place) = (UInt64(stem.count) &+ secret, 0)
        while place + 8 <= raw.count {
            hash = mixed(hash, raw.loadUnaligned(fromByteOffset: place, as: UInt64.self))
            place += 8
        }
        var rest: UInt64 = 0
        while place < raw.count {
            rest = rest << 8 | UInt64(raw[place])
            place += 1
        }
        return mixed(mixed(hash, rest), secret)
    }
}
