// SPDX-License-Identifier: Apache-2.0

/// A reproducible random number generator. The seed is an argument of the test, so that a failure
/// can be replayed.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; equal seeds give equal sequences.
    public init(seed: UInt64) { state = seed }

    /// Returns the next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to but not including `bound`, which must be at least 1.
    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

    /// Returns a random element of the choices, which must not be empty.
    public mutating func pick<Choice>(_ choices: [Choice]) -> Choice { choices[below(choices.count)] }

    /// Returns Unicode text: mostly plain letters, mixed with scalars that break naive code.
    ///
    /// - Parameter length: The number of scalars.
    public mutating func text(length: Int) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<length {
            switch below(8) {
            case 0: text.append(pick(Self.troublesome))
            case 1: text.append(Unicode.Scalar(UInt32(below(0xD800))) ?? "x")
            case 2: text.append(Unicode.Scalar(UInt32(0xE000 + below(0x102000))) ?? "y")
            case 3: text.append(" ")
            default: text.append(pick(Self.letters))
            }
        }
        return String(text)
    }

    private static let letters = Array("abcdeéABCDE01".unicodeScalars)
    /// Combining marks, joiners, prepended signs, regional indicators, direction overrides, line
    /// ends, controls and markup.
    private static let troublesome = Array(
        "\u{301}\u{338}\u{600}\u{200D}\u{FE0F}\u{1F1E9}\u{1F468}\u{202E}\u{2066}\r\n\u{2028}\u{0}\u{1B}\u{7F}\"'<>&*^(){}:-"
            .unicodeScalars)
}
