// SPDX-License-Identifier: Apache-2.0

/// The conditions of `.if` and `.ie`.
enum RoffCondition {
    /// Returns the value of the condition at the beginning, and the rest. A condition that compares
    /// strings or registers is false, as in a formatter without definitions.
    static func evaluate(_ text: ArraySlice<UInt8>) -> (Bool, ArraySlice<UInt8>) {
        var rest = text
        var isNegated = false
        while rest.first == UInt8(ascii: "!") {
            isNegated.toggle()
            rest = rest.dropFirst()
        }
        guard let first = rest.first else { return (false, rest) }
        switch first {
        // True for a terminal formatter on an odd page.
        case UInt8(ascii: "n"), UInt8(ascii: "o"): return (!isNegated, rest.dropFirst())
        case UInt8(ascii: "t"), UInt8(ascii: "e"), UInt8(ascii: "v"): return (isNegated, rest.dropFirst())
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            let parts = rest.dropFirst().split(separator: first, maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3 else { return (false, []) }
            return (parts[0].elementsEqual(parts[1]) != isNegated, parts[2])
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            let after = rest[digits.endIndex...]
            guard after.first.map({ $0 == 0x20 || $0 == UInt8(ascii: "\\") }) ?? true else { return word(rest) }
            return (digits.contains { $0 != UInt8(ascii: "0") } != isNegated, after)
        default: return word(rest)
        }
    }

    /// Skips a condition that is not evaluated, up to a blank outside parentheses.
    private static func word(_ text: ArraySlice<UInt8>) -> (Bool, ArraySlice<UInt8>) {
        var depth = 0
        var index = text.startIndex
        while index < text.endIndex {
            let byte = text[index]
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            if depth <= 0, byte == 0x20 || byte == 0x09 { break }
            if byte == UInt8(ascii: "\\"), text.index(after: index) < text.endIndex {
                // "\{" begins the block. The parenthesis in "\n(xx" opens nothing.
                if text[index + 1] == UInt8(ascii: "{") { break }
                if text[index + 1] == UInt8(ascii: "n"), index + 2 < text.endIndex, text[index + 2] == UInt8(ascii: "(")
                {
                    index += 1
                }
                index += 1
            }
            index += 1
        }
        return (false, text[min(index, text.endIndex)...])
    }

    /// Returns the number of blocks that a line begins minus the number that it ends.
    static func balance(_ line: ArraySlice<UInt8>) -> Int {
        var balance = 0
        var isEscape = false
        for byte in line {
            if isEscape {
                if byte == UInt8(ascii: "{") { balance += 1 }
                if byte == UInt8(ascii: "}") { balance -= 1 }
                isEscape = false
            } else {
                isEscape = byte == UInt8(ascii: "\\")
            }
        }
        return balance
    }
}
