// SPDX-License-Identifier: Apache-2.0

/// A repeatable source of randomness (SplitMix64): equal seeds give equal choices, on every machine.
struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator for one check, so that a check chooses the same whether or not others ran before it.
    init(seed: UInt64, for check: ValidationCheck) {
        // FNV-1a; the hash values of the standard library differ from run to run.
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

    /// A number from 0 up to and without `bound`, which is at least 1.
    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Some of the elements, in their order.
    mutating func sample<Element>(_ elements: [Element], _ count: Int) -> [Element] {
        guard elements.count > count else { return elements }
        // Not `shuffled(using:)`, whose choices may change with the standard library.
        var chosen: Set<Int> = []
        while chosen.count < count { chosen.insert(below(elements.count)) }
        return chosen.sorted().map { elements[$0] }
    }

    /// How ``unusedName()`` begins.
    var unusedPrefix: String { "searchlight-validation-" }

    /// A name that nobody has given anything.
    mutating func unusedName() -> String {
        unusedPrefix + String(next(), radix: 16) + String(next(), radix: 16)
    }
}
