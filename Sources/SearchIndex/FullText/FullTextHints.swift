// SPDX-License-Identifier: Apache-2.0
import MetadataQuery
import TextAnalysis

/// Facts about a text that metadata queries need in addition to its words, stored as tags of one
/// scalar each (``FullTextTag``). With these tags, queries can rely on the full-text tables.
///
/// - Under the modifier `w`, a word also begins where a capital follows a lowercase letter: at
///   `View` in `TableView`. The tables only have `tableview`; a tag states that a word part begins
///   with `vie`.
/// - A text is *uncertain* if it contains scalars that fold differently for each modifier, that the
///   tokenizer drops, or that split words of the folded text (™, ½). Every query must evaluate
///   uncertain texts.
struct FullTextHints {
    /// The number of letters stored of a word part.
    static let length = 3
    /// The number of ASCII letters and digits, ignoring case.
    private static let letters: UInt32 = 36
    /// The start of plane 16, after the tags of bundles.
    private static let first: UInt32 = 0x100000
    /// The maximum factor by which folding can increase the size of a text in bytes.
    private static let maximumGrowth = 4
    private static let uncertainCode = letters * letters * letters

    private var codes: Set<UInt32> = []

    /// The tags in a fixed order.
    var scalars: String {
        if codes.isEmpty { return "" }
        return String(String.UnicodeScalarView(codes.sorted().compactMap { Unicode.Scalar(Self.first + $0) }))
    }

    /// The FTS5 expression, in the table of texts, for uncertain texts.
    static let uncertain = expression(uncertainCode)
    /// The same expression in the table of ranked words.
    static let uncertainTitles = "\"\(FullTextTag.word(of: scalar(uncertainCode)))\""

    /// Returns the expression for texts in which a word part begins with `word`; `nil` if `word` is
    /// too short or contains characters other than ASCII letters and digits.
    static func inWords(beginningWith word: String) -> String? {
        var code = Code()
        for byte in word.utf8.prefix(length) where !code.append(byte) { return nil }
        return code.isComplete ? expression(code.value) : nil
    }

    private static func expression(_ code: UInt32) -> String {
        "tags : \"\(FullTextTag.word(of: scalar(code)))\""
    }

    private static func scalar(_ code: UInt32) -> Unicode.Scalar { Unicode.Scalar(first + code) ?? "\u{100000}" }

    /// Adds the hints for a text.
    mutating func add(_ text: String) {
        Self.forEachRun(in: text) { run, isPlain in
            if isPlain { addPlain(run) } else { addOther(run) }
        }
    }

    /// Adds only the hint that a text is uncertain or has words that are too long for
    /// ``TermDictionary``.
    mutating func addUncertainties(of text: String) {
        Self.forEachRun(in: text) { run, isPlain in
            guard !isPlain else {
                if run.count > TermDictionary.maximumWordBytes { codes.insert(Self.uncertainCode) }
                return
            }
            let text = String(decoding: run, as: UTF8.self)
            noteUncertainty(text)
            guard run.count > TermDictionary.maximumWordBytes / Self.maximumGrowth else { return }
            FullTextTokenizer.forEachWord(in: text) { word in
                if word.bytes.count > TermDictionary.maximumWordBytes { codes.insert(Self.uncertainCode) }
                return true
            }
        }
    }

    private mutating func noteUncertainty(_ text: String) {
        // A NUL separates words both in queries and in the tables.
        if text.unicodeScalars.contains(where: {
            FullTextTag.isTag($0) || AttributeKey.isUnpredictable($0) || CharacterKind.divides($0)
        }) {
            codes.insert(Self.uncertainCode)
        }
    }

    /// Calls `body` with each run of letters, digits and scalars outside ASCII, as the tokenizer
    /// sees them.
    private static func forEachRun(in text: String, _ body: (UnsafeBufferPointer<UInt8>, _ isPlain: Bool) -> Void) {
        var text = text
        text.withUTF8 { bytes in
            var position = 0
            while position < bytes.count {
                let start = position
                var isPlain = true
                while position < bytes.count {
                    let byte = bytes[position]
                    guard byte >= 0x80 || (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 else { break }
                    isPlain = isPlain && byte < 0x80
                    position += 1
                }
                if position > start { body(UnsafeBufferPointer(rebasing: bytes[start..<position]), isPlain) }
                position += 1
            }
        }
    }

    private mutating func addPlain(_ run: UnsafeBufferPointer<UInt8>) {
        // Most words have no capital after the first letter.
        guard run.count > Self.length, run.dropFirst().contains(where: { $0 &- 0x41 < 26 }) else { return }
        for place in 1...(run.count - Self.length)
        where (0x41...0x5A).contains(run[place]) && (0x61...0x7A).contains(run[place - 1]) {
            var code = Code()
            for byte in run[place..<(place + Self.length)] { _ = code.append(byte) }
            codes.insert(code.value)
        }
    }

    private mutating func addOther(_ run: UnsafeBufferPointer<UInt8>) {
        let text = String(decoding: run, as: UTF8.self)
        noteUncertainty(text)
        // Composed and split before case folding, as in the evaluator.
        let composed = TextFolding.folded(text, case: false, diacritics: false)
        var end: String.Index?
        for word in Words(composed, splittingCaseChanges: true) {
            if word.lowerBound == end { addBeginning(composed[word.lowerBound...]) }
            end = word.upperBound
        }
    }

    private mutating func addBeginning(_ text: Substring) {
        var code = Code()
        for scalar in text.unicodeScalars {
            for folded in AttributeKey.folded(String(scalar)) {
                guard folded.isASCII, code.append(UInt8(folded.value)) else { return }
                if code.isComplete {
                    codes.insert(code.value)
                    return
                }
            }
        }
    }

    /// Encodes up to ``length`` ASCII letters and digits as one number.
    fileprivate struct Code {
        private(set) var value: UInt32 = 0
        private var count = 0

        var isComplete: Bool { count == FullTextHints.length }

        /// Appends a character; returns `false` unless it is an ASCII letter or digit.
        mutating func append(_ byte: UInt8) -> Bool {
            guard let digit = Self.digit(byte) else { return false }
            value = value * FullTextHints.letters + digit
            count += 1
            return true
        }

        static func digit(_ byte: UInt8) -> UInt32? {
            switch byte {
            case 0x30...0x39: UInt32(byte) - 0x30
            case 0x41...0x5A: UInt32(byte) - 0x41 + 10
            case 0x61...0x7A: UInt32(byte) - 0x61 + 10
            default: nil
            }
        }
    }
}
