// SPDX-License-Identifier: Apache-2.0

/// The words of a command: its name, its options (`--until 2027-01-01`) and the rest.
public struct CommandWords: Sendable {
    /// The first word.
    public private(set) var name = ""
    /// The words that are neither the name nor options.
    public private(set) var rest: [String] = []
    private var options: [String: String] = [:]

    /// Divides the words of a command.
    ///
    /// - Parameter switches: The options without a value.
    public init(_ words: [String], switches: Set<String> = []) {
        var words = words[...]
        name = words.popFirst() ?? ""
        while let word = words.popFirst() {
            if !word.hasPrefix("--") {
                rest.append(word)
            } else if switches.contains(word) {
                options[word] = ""
            } else {
                options[word] = words.popFirst() ?? ""
            }
        }
    }

    /// The rest as one text.
    public var text: String { rest.joined(separator: " ") }

    /// The value of an option; `nil` if it is missing.
    public subscript(option: String) -> String? { options["--" + option] }

    /// `true` if the option is present.
    public func has(_ option: String) -> Bool { options["--" + option] != nil }
}
