// SPDX-License-Identifier: Apache-2.0

/// Divides a text into folded words (docs/TEXT.md): those of ``Words``, folded in case and diacritics (``TextFolding``).
///
/// Some words are also found by another form of them, their **variant**:
///
/// - what apostrophes part, written together: `oreilly` for O'Reilly, whose words are `o` and `reilly`,
/// - the number of a version: `12` for v12,
/// - names with signs: `c++`, `c#`.
public enum TextAnalyzer {
    /// The longest word in bytes of UTF-8; of longer ones, which nobody types, this much is the word.
    public static let maximumWordBytes = 96

    /// A word on its way.
    public struct Word {
        /// Folded, in UTF-8; valid during the call alone, and never empty.
        public let bytes: UnsafeBufferPointer<UInt8>
        /// The bytes of the text that it was made of, with the marks behind them.
        public let range: Range<Int>
        /// How many words before it are the same in another form; 0 if it is none.
        public let replaced: Int
        package init(bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>, replaced: Int) {
            (self.bytes, self.range, self.replaced) = (bytes, range, replaced)
        }

        /// Whether it is another form of the word before it.
        public var isVariant: Bool { replaced > 0 }
    }

    /// The folded words that a typed text is searched by: a variant in place of its words, where that finds more.
    ///
    /// ```swift
    /// TextAnalyzer.searchWords(of: "O'Reilly")  // ["oreilly"]
    /// TextAnalyzer.searchWords(of: "v12.18")    // ["12", "18"]
    /// ```
    ///
    /// Words that apostrophes separate are joined only if nothing else was typed: among other words they stand side by side,
    /// as they do in the text. The `v` of a version is dropped only if another number follows.
    public static func searchWords(of text: String) -> [String] {
        var words: [String] = []
        var joined: String?
        var text = text
        text.withUTF8 { bytes in
            forEachWord(in: bytes, variants: true) { word in
                let form = String(decoding: word.bytes, as: UTF8.self)
                if word.replaced > 1 {
                    if words.count == word.replaced { joined = form }
                    return true
                }
                if word.isVariant {
                    let isDigits = word.bytes.allSatisfy { (0x30...0x39).contains($0) }
                    if isDigits, words.last != "v" + form || !isNumber(after: word.range.upperBound, in: bytes) {
                        return true
                    }
                    words.removeLast()
                }
                joined = nil
                words.append(form)
                return true
            }
        }
        return joined.map { [$0] } ?? words
    }

    /// Whether a text goes on with a point and a digit.
    fileprivate static func isNumber(after position: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        position + 1 < text.count && text[position] == UInt8(ascii: ".") && (0x30...0x39).contains(text[position + 1])
    }

    /// The folded words of a text, in order, without variants.
    public static func words(of text: String) -> [String] {
        var words: [String] = []
        var text = text
        text.withUTF8 { bytes in
            forEachWord(in: bytes, variants: false) { word in
                words.append(String(decoding: word.bytes, as: UTF8.self))
                return true
            }
        }
        return words
    }

    /// Calls `body` with each word, and each variant behind its word, until it returns `false`. Linear in the length.
    ///
    /// - Parameters:
    ///   - text: UTF-8; what is not valid reads as U+FFFD.
    ///   - variants: Whether variants are wanted.
    public static func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, variants: Bool, _ body: (Word) -> Bool
    ) {
        withoutActuallyEscaping(body) { body in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumWordBytes) { storage in
                var walk = AnalyzerWalk(text, storage, findsVariants: variants, body: body)
                walk.run()
            }
        }
    }
}

/// One walk over a text.
private struct AnalyzerWalk {
    let findsVariants: Bool
    let body: (TextAnalyzer.Word) -> Bool
    private let text: UnsafeBufferPointer<UInt8>
    /// Has the word that was read last.
    private let storage: UnsafeMutableBufferPointer<UInt8>
    private var length = 0
    private var scalars: [Unicode.Scalar] = []
    /// The words that apostrophes separate, as one; how many; and where they are.
    private var joined: [UInt8] = []
    private var parts = 0
    private var place = 0..<0
    /// The signs behind the last word.
    private var signs = Signs.none

    private enum Signs { case none, apostrophe, plus, plusPlus, sharp, other }

    init(
        _ text: UnsafeBufferPointer<UInt8>, _ storage: UnsafeMutableBufferPointer<UInt8>, findsVariants: Bool,
        body: @escaping (TextAnalyzer.Word) -> Bool
    ) {
        self.text = text
        self.storage = storage
        self.findsVariants = findsVariants
        self.body = body
    }

    /// The word that was read last.
    private var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: storage[..<length]) }

    mutating func run() {
        Self.table.withUnsafeBufferPointer { run($0) }
        _ = endWord()
    }

    private mutating func run(_ table: UnsafeBufferPointer<UInt8>) {
        var position = 0
        while position < text.count {
            let byte = text[position]
            var folded = table[Int(byte)]
            // A run of letters, digits and all that is not ASCII: no word reaches beyond one.
            guard folded != 0 else {
                position += 1
                if parts == 1, signs == .none, !Self.isSign(byte) {
                    (parts, signs) = (0, .other)
                } else if parts > 0, !pass(Unicode.Scalar(byte), endingAt: position) {
                    return stop()
                }
                continue
            }
            let start = position
            var all: UInt8 = 0
            length = 0
            repeat {
                all |= folded
                if length < storage.count {
                    storage[length] = folded
                    length += 1
                }
                position += 1
                guard position < text.count else { break }
                folded = table[Int(text[position])]
            } while folded != 0
            guard all < 0x80 ? emit(start..<position) : passRun(start..<position) else { return stop() }
        }
    }

    /// Has nothing more emitted.
    private mutating func stop() { parts = 0 }

    /// The folded form of each byte: 0 between words, small ASCII letters and digits, 0xFF for parts of other scalars.
    private static let table: [UInt8] = (0...255).map { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: UInt8(byte)
        case 0x41...0x5A: UInt8(byte + 32)
        case 0x80...: 0xFF
        default: 0
        }
    }

    /// The scalar at a position, and its length; U+FFFD for a byte that is not UTF-8.
    private func scalar(at position: Int, before end: Int) -> (Unicode.Scalar, Int) {
        let lead = UInt32(text[position])
        if lead < 0x80 { return (Unicode.Scalar(UInt8(lead)), 1) }
        let (length, least): (Int, UInt32) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80)
            case 0xE0...0xEF: (3, 0x800)
            case 0xF0...0xF4: (4, 0x10000)
            default: (1, .max)
            }
        guard least < .max, position + length <= end else { return ("\u{FFFD}", 1) }
        var value = lead & (0x7F >> UInt32(length))
        for offset in 1..<length {
            let byte = UInt32(text[position + offset])
            guard byte & 0xC0 == 0x80 else { return ("\u{FFFD}", 1) }
            value = value << 6 | byte & 0x3F
        }
        guard value >= least, let scalar = Unicode.Scalar(value) else { return ("\u{FFFD}", 1) }
        return (scalar, length)
    }

    /// Passes a run with scalars that are not ASCII. A word begins where one begins in the text, and where one begins in
    /// the folded text: ㍿ is the four words of 株式会社, and Foo™ is two.
    private mutating func passRun(_ range: Range<Int>) -> Bool {
        var (previous, previousFolded) = (CharacterKind.separator, CharacterKind.separator)
        var (isOpen, mayCompose) = (false, false)
        var (start, position) = (range.lowerBound, range.lowerBound)
        scalars.removeAll(keepingCapacity: true)
        while position < range.upperBound {
            let (scalar, length) = scalar(at: position, before: range.upperBound)
            let end = position + length
            let record = UnicodeTable.record(of: scalar)
            let kind = CharacterKind(record)
            var begins = kind.begins(after: previous)
            if kind != .mark { previous = kind }
            // Whether the open word has a part of this scalar.
            var isPartial = false
            for offset in 0..<UnicodeTable.count(in: record.folded) {
                let folded = UnicodeTable.scalar(in: record.folded, offset) ?? scalar
                let foldedRecord = record.folded == 0 ? record : UnicodeTable.record(of: folded)
                let foldedKind = CharacterKind(foldedRecord)
                begins = begins || kind != .mark && foldedKind.begins(after: previousFolded)
                // The first part of Thai “am” belongs to the letter before.
                if foldedKind == .mark, kind == .single { begins = false }
                if foldedKind != .mark { previousFolded = foldedKind }
                if begins {
                    begins = false
                    if isOpen, !emitScalars(mayCompose, start..<(isPartial ? end : position)) { return false }
                    isOpen = foldedKind != .separator
                    isPartial = false
                    (start, mayCompose) = (position, false)
                    if !isOpen, parts > 0, !pass(folded, endingAt: end) { return false }
                }
                if isOpen {
                    scalars.append(folded)
                    isPartial = true
                    mayCompose = mayCompose || foldedRecord.mayCompose
                }
            }
            position = end
        }
        return !isOpen || emitScalars(mayCompose, start..<position)
    }

    /// Emits the word that `scalars` hold.
    private mutating func emitScalars(_ mayCompose: Bool, _ range: Range<Int>) -> Bool {
        if mayCompose { scalars = CanonicalForm.composed(scalars.map { TextElement(scalar: $0) }).map(\.scalar) }
        length = 0
        for scalar in scalars {
            guard length + UTF8.width(scalar) <= storage.count else { break }
            for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
                storage[length] = byte
                length += 1
            }
        }
        scalars.removeAll(keepingCapacity: true)
        // What shows nothing is no word.
        return length == 0 || emit(range)
    }

    /// Emits the word that `buffer` holds.
    private mutating func emit(_ range: Range<Int>) -> Bool {
        guard findsVariants else { return body(TextAnalyzer.Word(bytes: buffer, range: range, replaced: 0)) }
        let continues = signs == .apostrophe
        if parts > 0, !continues, !endWord(before: buffer[0]) { return false }
        guard body(TextAnalyzer.Word(bytes: buffer, range: range, replaced: 0)) else { return false }
        if continues {
            if joined.count + buffer.count <= TextAnalyzer.maximumWordBytes { joined += buffer }
            parts += 1
            place = place.lowerBound..<range.upperBound
        } else {
            parts = 1
            place = range
            if let last = buffer.last, (0x30...0x39).contains(last), let number = versionNumber(range),
                !emit(number, range, replaced: 1)
            {
                return false
            }
        }
        signs = .none
        return true
    }

    /// Passes a scalar behind a word.
    private mutating func pass(_ scalar: Unicode.Scalar, endingAt end: Int) -> Bool {
        switch (signs, scalar) {
        case (.none, _) where Self.isApostrophe(scalar): signs = .apostrophe
        case (.none, "+"): signs = .plus
        case (.plus, "+"): signs = .plusPlus
        case (.none, "#"): signs = .sharp
        default: return endWord()
        }
        if parts == 1 { joined = Array(buffer) }
        if signs != .apostrophe { place = place.lowerBound..<end }
        return true
    }

    /// Whether a sign of ASCII means something behind a word.
    private static func isSign(_ byte: UInt8) -> Bool { byte == 0x27 || byte == 0x60 || byte == 0x2B || byte == 0x23 }

    /// Signs that stand within words of some languages, or for such a sign.
    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x27, 0x60, 0xB4, 0xB7, 0x2B9...0x2BF, 0x2C8, 0x2CA, 0x2CB, 0x55A, 0x5F3, 0x5F4, 0x2018, 0x2019, 0x201B,
            0x2032,
            0xA78B, 0xA78C:
            true
        default: false
        }
    }

    /// Emits the variant of the words before, if they have one and end here.
    ///
    /// - Parameter next: The first byte of a word that follows at once.
    private mutating func endWord(before next: UInt8? = nil) -> Bool {
        guard parts > 0 else { return true }
        let isNumber = next.map { (0x30...0x39).contains($0) } ?? true
        let variant: [UInt8]? =
            switch signs {
            case .none, .apostrophe, .plus: parts > 1 ? joined : nil
            case .plusPlus: parts == 1 && isNumber ? joined + Array("++".utf8) : nil
            case .sharp: parts == 1 && isNumber && joined.count == 1 ? joined + Array("#".utf8) : nil
            case .other: nil
            }
        let replaced = parts
        parts = 0
        signs = .other
        return variant.map { emit($0, place, replaced: replaced) } ?? true
    }

    private func emit(_ bytes: [UInt8], _ range: Range<Int>, replaced: Int) -> Bool {
        bytes.withUnsafeBufferPointer { body(TextAnalyzer.Word(bytes: $0, range: range, replaced: replaced)) }
    }

    /// The digits of a version such as `v12`, or of `python3` where another number follows.
    private func versionNumber(_ range: Range<Int>) -> [UInt8]? {
        guard let last = buffer.lastIndex(where: { !(0x30...0x39).contains($0) }) else { return nil }
        let isVersion =
            last == 0 && buffer[0] == UInt8(ascii: "v") || TextAnalyzer.isNumber(after: range.upperBound, in: text)
        guard isVersion, buffer[...last].allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
        return Array(buffer[(last + 1)...])
    }
}
