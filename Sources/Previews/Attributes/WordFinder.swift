// SPDX-License-Identifier: Apache-2.0

/// Goes through text of UTF-8 by characters, and makes none of bytes that are characters by themselves.
struct WordFinder {
    let bytes: ArraySlice<UInt8>
    /// Where a character begins.
    private(set) var position: Int
    /// How many more characters are looked at.
    private var remaining: Int
    /// The same text, for characters of several bytes.
    lazy var text = String(decoding: bytes, as: UTF8.self)

    /// - Parameters:
    ///   - bytes: Valid UTF-8.
    ///   - limit: The most characters that are looked at.
    init(_ bytes: ArraySlice<UInt8>, limit: Int) {
        self.bytes = bytes
        position = bytes.startIndex
        remaining = limit
    }

    /// The byte that is next; `nil` at the end, or if no more characters are looked at.
    var byte: UInt8? { remaining > 0 && position < bytes.endIndex ? bytes[position] : nil }

    /// Whether a byte is a whole character where one begins: ASCII, without a mark behind it, and not the first of the two
    /// that end a line.
    private func isPlain(_ place: Int) -> Bool {
        guard bytes[place] < 0x80, bytes[place] != 0x0D else { return false }
        return place + 1 == bytes.endIndex || bytes[place + 1] < 0x80
    }

    /// Passes the next character.
    ///
    /// - Returns: Whether it is part of a word.
    mutating func passCharacter() -> Bool {
        let byte = bytes[position]
        remaining -= 1
        if isPlain(position) {
            position += 1
            return isLetter(byte) || isDigit(byte)
        }
        let character = text[text.utf8.index(text.startIndex, offsetBy: position - bytes.startIndex)]
        position = min(bytes.endIndex, position + character.utf8.count)
        return character.isLetter || character.isNumber
    }

    /// Passes a word of so many characters.
    mutating func passWord(endingAt end: Int, characters: Int) {
        position = end
        remaining -= characters
    }

    /// Whether a word of plain bytes in lower case stands where a character begins; `nil` if characters have to be looked at.
    func hasPlain(_ word: [UInt8], at start: Int) -> Bool? {
        var place = start
        for byte in word {
            guard place < bytes.endIndex else { return false }
            guard isPlain(place) else { return nil }
            guard lowered(bytes[place]) == byte else { return false }
            place += 1
        }
        return true
    }
}
