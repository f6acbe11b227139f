// SPDX-License-Identifier: Apache-2.0
import TextAnalysis

/// Divides a text into normalized words, like BERT's basic tokenizer: control characters are
/// removed, each punctuation or Chinese character is a separate word, and all other words are
/// separated by whitespace.
struct BertWords {
    /// The length of the longest word, in scalars. Longer words are unknown.
    static let maximumScalars = 100

    /// A word; its bytes are valid only during the call.
    struct Word {
        /// The normalized bytes in UTF-8; `nil` if the word is too long.
        let bytes: ArraySlice<UInt8>?
        /// The range in the text, in bytes.
        let range: Range<Int>
    }

    private let rules: TextRules
    private let body: (Word) -> Bool
    private var bytes: [UInt8] = []
    private var scalars = 0
    private var range = 0..<0

    private init(_ rules: TextRules, _ body: @escaping (Word) -> Bool) {
        (self.rules, self.body) = (rules, body)
        bytes.reserveCapacity(4 * Self.maximumScalars)
    }

    /// Calls `body` with each word until it returns `false`. Linear in the length of the text; a
    /// word uses no more memory than the longest valid word.
    static func forEach(in text: UnsafeBufferPointer<UInt8>, _ rules: TextRules, _ body: (Word) -> Bool) {
        withoutActuallyEscaping(body) { body in
            var walk = BertWords(rules, body)
            walk.run(text)
        }
    }

    private mutating func run(_ text: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < text.count {
            let byte = text[position]
            let goesOn: Bool
            let start = position
            if byte < 0x80 {
                position += 1
                goesOn = pass(byte, start..<position)
            } else {
                let scalar = Self.decode(text, &position)
                goesOn = pass(scalar, start..<position)
            }
            guard goesOn else { return }
        }
        _ = endWord()
    }

    /// Decodes a scalar of valid UTF-8 and advances past it.
    private static func decode(_ text: UnsafeBufferPointer<UInt8>, _ position: inout Int) -> Unicode.Scalar {
        let rest = UnsafeBufferPointer(rebasing: text[position..<min(position + 4, text.count)])
        var iterator = rest.makeIterator()
        var decoder = UTF8()
        guard case .scalarValue(let scalar) = decoder.decode(&iterator) else {
            position += 1
            return "\u{FFFD}"
        }
        position += UTF8.width(scalar)
        return scalar
    }

    private mutating func pass(_ byte: UInt8, _ place: Range<Int>) -> Bool {
        switch byte {
        case 0x09, 0x0A, 0x0D, 0x20: return endWord()
        case 0..<0x20, 0x7F: return true
        case 0x41...0x5A:
            append(rules.lowercases ? byte | 0x20 : byte, place)
            return true
        case 0x30...0x39, 0x61...0x7A:
            append(byte, place)
            return true
        default: return endWord() && single(Unicode.Scalar(byte), place)
        }
    }

    private mutating func pass(_ scalar: Unicode.Scalar, _ place: Range<Int>) -> Bool {
        let properties = scalar.properties
        guard scalar != "\u{FFFD}", !Self.isControl(properties.generalCategory) else { return true }
        if properties.isWhitespace { return endWord() }
        let isIdeograph = rules.separatesIdeographs && Self.isIdeograph(scalar.value)
        if isIdeograph, !endWord() { return false }
        var goesOn = true
        if rules.stripsAccents {
            CanonicalForm.decompose(scalar) { part in
                let category = part.properties.generalCategory
                if goesOn, category != .nonspacingMark { goesOn = lowercase(part, category, place) }
            }
        } else {
            goesOn = lowercase(scalar, properties.generalCategory, place)
        }
        return goesOn && (!isIdeograph || endWord())
    }

    private mutating func lowercase(
        _ scalar: Unicode.Scalar, _ category: Unicode.GeneralCategory, _ place: Range<Int>
    ) -> Bool {
        guard rules.lowercases,
            category == .uppercaseLetter || category == .titlecaseLetter || scalar.properties.isCased
        else { return add(scalar, category, place) }
        for part in scalar.properties.lowercaseMapping.unicodeScalars {
            guard add(part, part.properties.generalCategory, place) else { return false }
        }
        return true
    }

    private mutating func add(
        _ scalar: Unicode.Scalar, _ category: Unicode.GeneralCategory, _ place: Range<Int>
    ) -> Bool {
        guard !Self.isPunctuation(scalar, category) else { return endWord() && single(scalar, place) }
        append(scalar, place)
        return true
    }

    private mutating func single(_ scalar: Unicode.Scalar, _ place: Range<Int>) -> Bool {
        append(scalar, place)
        return endWord()
    }

    private mutating func append(_ scalar: Unicode.Scalar, _ place: Range<Int>) {
        scalars += 1
        if scalars <= Self.maximumScalars, let encoded = UTF8.encode(scalar) { bytes += encoded }
        range = scalars == 1 ? place : range.lowerBound..<place.upperBound
    }

    private mutating func append(_ byte: UInt8, _ place: Range<Int>) {
        scalars += 1
        if scalars <= Self.maximumScalars { bytes.append(byte) }
        range = scalars == 1 ? place : range.lowerBound..<place.upperBound
    }

    private mutating func endWord() -> Bool {
        guard scalars > 0 else { return true }
        let goesOn = body(Word(bytes: scalars <= Self.maximumScalars ? bytes[...] : nil, range: range))
        bytes.removeAll(keepingCapacity: true)
        scalars = 0
        return goesOn
    }

    private static func isControl(_ category: Unicode.GeneralCategory) -> Bool {
        category == .control || category == .format || category == .privateUse
    }

    private static func isPunctuation(_ scalar: Unicode.Scalar, _ category: Unicode.GeneralCategory) -> Bool {
        switch category {
        case .connectorPunctuation, .dashPunctuation, .openPunctuation, .closePunctuation, .initialPunctuation,
            .finalPunctuation, .otherPunctuation:
            true
        // Symbols such as $ and ^ are also punctuation, but only in ASCII.
        default: scalar.isASCII && !(0x30...0x39).contains(scalar.value) && !scalar.properties.isAlphabetic
        }
    }

    /// Returns `true` for the blocks of Chinese characters that the reference implementation
    /// separates.
    private static func isIdeograph(_ value: UInt32) -> Bool {
        switch value {
        case 0x4E00...0x9FFF, 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B73F, 0x2B740...0x2B81F,
            0x2B820...0x2CEAF, 0xF900...0xFAFF, 0x2F800...0x2FA1F:
            true
        default: false
        }
    }
}
