// SPDX-License-Identifier: Apache-2.0

/// The words that a command is given to search for.
enum SearchText {
    /// Why nothing can be searched for; `nil` if something can.
    ///
    /// - Parameter example: the command with something to search for.
    static func problem(of words: [String], example: String) -> String? {
        let typed = words.joined(separator: " ").split(whereSeparator: \.isWhitespace)
        guard typed.contains(where: { $0.contains(where: isSearchable) }) else {
            return "There is no word to search for. Give letters or digits: \(example)"
        }
        guard typed.contains(where: { $0.first != "-" && $0.contains(where: isSearchable) }) else {
            return "Every word is one to leave out. Add one that must occur."
        }
        return nil
    }

    /// Punctuation alone finds nothing; signs such as emoji may be names.
    private static func isSearchable(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || (character.isSymbol && !character.isASCII)
    }
}
