// SPDX-License-Identifier: Apache-2.0

/// Splits a text into folded words (docs/TEXT.md): the words of ``Words``, folded in case and
/// diacritics (``TextFolding``).
///
/// Some words can also be found by another form, their **variant**:
///
/// - words separated by apostrophes, joined: `oreilly` for O'Reilly (words: `o` and `reilly`),
/// - the number of a version: `12` for v12,
/// - names with symbols: `c++`, `c#`.
public enum TextAnalyzer {
    /// The length of the longest word, in UTF-8 bytes. Longer words are truncated, because users do
    /// not type them.
    public static let maximumWordBytes = 96

    /// A word as passed to the callback.
    public struct Word {
        /// The folded bytes in UTF-8; valid during the call only, and never empty.
        public let bytes: UnsafeBufferPointer<UInt8>
        /// The range of the word in the text, in bytes, including the marks after it.
        public let range: Range<Int>
        /// The number of preceding words that this variant replaces; 0 for an ordinary word.
        public let replaced: Int
        package init(bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>, replaced: Int) {
            (self.bytes, self.range, self.replaced) = (bytes, range, replaced)
        }

        /// `true` if the word is a variant of the word before it.
        public var isVariant: Bool { replaced > 0 }
    }

    /// Returns the folded words used to search for a typed text. A variant replaces its words if it
    /// finds more.
    ///
    /// ```swift
    /// TextAnalyzer.searchWords(of: "O'Reilly")  // ["oreilly"]
    /// TextAnalyzer.searchWords(of: "v12.18")    // ["12", "18"]
    /// ```
    ///
    /// Words separated by apostrophes are only joined if the text contains no other words;
    /// otherwise they remain adjacent words, as in the text. The `v` of a version number is only
    /// dropped if another number follows.
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

    /// Returns `true` if a point and a digit follow the position.
    fileprivate static func isNumber(after position: Int, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        position + 1 < text.count && text[position] == UInt8(ascii: ".") && (0x30...0x39).contains(text[position + 1])
    }

    /// Calls `body` with the words and variants that begin with certain bytes, until it returns
    /// `false`. Skips all other words quickly.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; invalid bytes are treated as U+FFFD.
    ///   - beginnings: For each byte, `true` if words that begin with it are wanted: 256 values.
    ///   - body: Receives a word and its position: the number of words before it, without variants.
    ///     A variant has the position of the last word that it replaces. Words with other
    ///     beginnings may be passed too.
    /// - Returns: The number of words read, without variants.
    package static func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, beginningWith beginnings: UnsafeBufferPointer<Bool>,
        _ body: (Word, _ position: Int) -> Bool
    ) -> Int {
        var count = 0
        withoutActuallyEscaping(body) { body in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumWordBytes) { storage in
                var walk = AnalyzerWalk(text, storage, findsVariants: true) { word in
                    if !word.isVariant { count += 1 }
                    return body(word, count - 1)
                }
                walk.run(beginningWith: beginnings) { count += 1 }
            }
        }
        return count
    }

    /// Returns the folded words of a text, in order, without variants.
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

    /// Calls `body` with each word, and with each variant after its word, until it returns `false`.
    /// Linear in the length of the text.
    ///
    /// - Parameters:
    ///   - text: The text in UTF-8; invalid bytes are treated as U+FFFD.
    ///   - variants: `true` to include variants.
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

/// A single pass over a text.
private struct AnalyzerWalk {
    let findsVariants: Bool
    let body: (TextAnalyzer.Word) -> Bool
    private let text: UnsafeBufferPointer<UInt8>
    /// Contains the last word read.
    private let storage: UnsafeMutableBufferPointer<UInt8>
    private var length = 0
    private var scalars: [Unicode.Scalar] = []
    /// The words separated by apostrophes, joined into one.
    private var joined: [UInt8] = []
    private var parts = 0
    private var place = 0..<0
    /// The symbols after the last word.
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

    /// The last word read.
    private var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: storage[..<length]) }

    mutating func run() {
        Self.table.withUnsafeBufferPointer { run($0, wanted: nil) {} }
        _ = endWord()
    }

    /// Passes over the text, and skips words with other beginnings.
    ///
    /// - Parameter skip: Called for each skipped word.
    mutating func run(beginningWith wanted: UnsafeBufferPointer<Bool>, skip: () -> Void) {
        // The variant of a version number begins with a digit, whatever its word begins with.
        let skips = !(0x30...0x39).contains { wanted[$0] }
        Self.table.withUnsafeBufferPointer { run($0, wanted: skips ? wanted : nil, skip: skip) }
        _ = endWord()
    }

    /// Returns the end of the ASCII word at a position, if the word and its variants can be
    /// skipped: if neither an apostrophe nor another significant symbol follows.
    private func skippable(_ start: Int, _ table: UnsafeBufferPointer<UInt8>) -> Int? {
        var (end, all): (Int, UInt8) = (start, 0)
        while end < text.count {
            let folded = table[Int(text[end])]
            if folded == 0 { break }
            all |= folded
            end += 1
        }
        guard all < 0x80, end == text.count || !Self.isSign(text[end]) else { return nil }
        return end
    }

    private mutating func run(
        _ table: UnsafeBufferPointer<UInt8>, wanted: UnsafeBufferPointer<Bool>?, skip: () -> Void
    ) {
        var position = 0
        while position < text.count {
            let byte = text[position]
            var folded = table[Int(byte)]
            // Begins a run of letters, digits and bytes outside ASCII. No word extends beyond a
            // run.
            guard folded != 0 else {
                position += 1
                if parts == 1, signs == .none, !Self.isSign(byte) {
                    (parts, signs) = (0, .other)
                } else if parts > 0, !pass(Unicode.Scalar(byte), endingAt: position) {
                    return stop()
                }
                continue
            }
            if let wanted, !wanted[Int(folded)], signs != .apostrophe || parts == 0,
                let end = skippable(position, table)
            {
                if parts > 0, !endWord(before: folded) { return stop() }
                (parts, signs) = (0, .other)
                position = end
                skip()
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

    /// Prevents the pending variant from being emitted.
    private mutating func stop() { parts = 0 }

    /// The folded form of each byte: 0 for separators, lowercase ASCII letters and digits, 0xFF for
    /// bytes outside ASCII.
    private static let table: [UInt8] = (0...255).map { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: UInt8(byte)
        case 0x41...0x5A: UInt8(byte + 32)
        case 0x80...: 0xFF
        default: 0
        }
    }

    /// Returns the scalar at a position and its length; U+FFFD for an invalid byte.
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

    /// Processes a run with scalars outside ASCII. A word begins where one begins in the text or in
    /// the folded text: ㍿ yields the four words of 株式会社, and Foo™ yields two words.
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
            // `true` if the open word contains a part of this scalar.
            var isPartial = false
            for offset in 0..<UnicodeTable.count(in: record.folded) {
                let folded = UnicodeTable.scalar(in: record.folded, offset) ?? scalar
                let foldedRecord = record.folded == 0 ? record : UnicodeTable.record(of: folded)
                let foldedKind = CharacterKind(foldedRecord)
                begins = begins || kind != .mark && foldedKind.begins(after: previousFolded)
                // The first part of Thai “am” belongs to the preceding letter.
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

    /// Emits the word in `scalars`.
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
        // Invisible characters do not form a word.
        return length == 0 || emit(range)
    }

    /// Emits the word in `buffer`.
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

    /// Processes a scalar after a word.
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

    /// Returns `true` if an ASCII symbol is significant after a word.
    private static func isSign(_ byte: UInt8) -> Bool { byte == 0x27 || byte == 0x60 || byte == 0x2B || byte == 0x23 }

    /// Returns `true` for apostrophes and similar characters that occur within words of some
    /// languages.
    private static func isApostrophe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x27, 0x60, 0xB4, 0xB7, 0x2B9...0x2BF, 0x2C8, 0x2CA, 0x2CB, 0x55A, 0x5F3, 0x5F4, 0x2018, 0x2019, 0x201B,
            0x2032,
            0xA78B, 0xA78C:
            true
        default: false
        }
    }

    /// Emits the variant of the preceding words, if a variant ends here.
    ///
    /// - Parameter next: The first byte of a word that follows immediately.
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

    /// Returns the digits of a version number such as `v12`, or of `python3` if another number
    /// follows.
    private func versionNumber(_ range: Range<Int>) -> [UInt8]? {
        guard let last = buffer.lastIndex(where: { !(0x30...0x39).contains($0) }) else { return nil }
        let isVersion =
            last == 0 && buffer[0] == UInt8(ascii: "v") || TextAnalyzer.isNumber(after: range.upperBound, in: text)
        guard isVersion, buffer[...last].allSatisfy({ (0x61...0x7A).contains($0) }) else { return nil }
        return Array(buffer[(last + 1)...])
    }
}
