// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

/// A question with the accepted values that are similar to a misspelt one, such as `pyton`.
enum ValueHint {
    /// Returns the question for an error message of the argument parser. The parser lists the
    /// accepted values only in its message.
    ///
    ///     ValueHint.question(for: "Error: The value 'pyton' is invalid for '--language <language>'. …")
    ///
    /// - Returns: `nil` for other messages, and if no value is similar.
    static func question(for message: String) -> String? {
        guard let opening = message.firstRange(of: "The value '") else { return nil }
        let rest = message[opening.upperBound...]
        guard let middle = rest.firstRange(of: "' is invalid for '"),
            let list = rest[middle.upperBound...].firstRange(of: "Please provide one of ")
        else { return nil }
        let values = accepted(rest[list.upperBound...])
        return SpellingSuggestions.sentence(to: String(rest[..<middle.lowerBound]), among: values)
    }

    /// Reads the accepted values: a sentence with quoted values, or lines that begin with a dash.
    private static func accepted(_ text: Substring) -> [String] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard let first = lines.first else { return [] }
        guard first.hasPrefix("the following:") else {
            let parts = first.split(separator: "'", omittingEmptySubsequences: false)
            return stride(from: 1, to: parts.count, by: 2).map { String(parts[$0]) }
        }
        return lines.dropFirst().prefix { $0.hasPrefix("  - ") }.map { String($0.dropFirst(4)) }
    }
}
