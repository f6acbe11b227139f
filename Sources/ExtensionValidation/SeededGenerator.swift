// SPDX-License-Identifier: Apache-2.0

/// A reproducible random number generator (SplitMix64). Equal seeds give equal choices on every
/// machine.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator for one check, so that its choices do not depend on other checks.
    init(seed: UInt64, for check: ValidationCheck) {
        // FNV-1a, because the standard library's hash values differ between runs.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in check.rawValue.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        state = seed ^ hash
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, `bound`, which is at least 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns a sample of the elements, in their original order.
    mutating func sample<Element>(_ elements: [Element], _ count: Int) -> [Element] {
        guard elements.count > count else { return elements }
        // Not `shuffled(using:)`, whose results may change with the standard library.
        var chosen: Set<Int> = []
        while chosen.count < count { chosen.insert(below(elements.count)) }
        return chosen.sorted().map { elements[$0] }
    }

    /// The prefix of ``unusedName()``.
    var unusedPrefix: String { "searchlight-validation-" }

    /// Returns a name that no item has.
    mutating func unusedName() -> String {
        unusedPrefix + String(next(), radix: 16) + String(next(), radix: 16)
    }
}
