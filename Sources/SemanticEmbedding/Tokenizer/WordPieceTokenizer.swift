// SPDX-License-Identifier: Apache-2.0

/// Divides texts into the tokens of a BERT model: texts into words by ``TextRules``, and words into
/// the longest vocabulary pieces, from left to right.
///
/// ```swift
/// tokenizer.tokens(of: "Unaffable", limit: 256)  // [CLS] una ##ffa ##ble [SEP]
/// ```
///
/// The reference implementation treats `[CLS]` and the like in a text as control tokens. Here they
/// are ordinary text, `[` `cls` `]`, because a text from an app or a file must not change the
/// structure of the model's input. The only control token that a text can produce is the token for
/// unknown words.
package struct WordPieceTokenizer: Sendable {
    package let vocabulary: WordPieceVocabulary
    package let rules: TextRules

    /// A word with its tokens.
    package struct Word {
        /// The tokens, at least one.
        package let tokens: [Int32]
        /// The range in the text, in UTF-8 bytes.
        package let range: Range<Int>
    }

    package init(vocabulary: WordPieceVocabulary, rules: TextRules) {
        (self.vocabulary, self.rules) = (vocabulary, rules)
    }

    /// Returns the tokens of a text, enclosed by the start and end tokens.
    ///
    /// - Parameters:
    ///   - prefix: A text that precedes it; it uses at most half of the tokens.
    ///   - limit: The largest number of tokens, at least 2. The rest of the text is not read.
    package func tokens(of text: String, prefix: String = "", limit: Int) -> [Int32] {
        var tokens = [vocabulary.start]
        append(prefix, to: &tokens, limit: limit / 2)
        append(text, to: &tokens, limit: limit - 1)
        tokens.append(vocabulary.end)
        return tokens
    }

    /// Appends the tokens of a text until there are `limit` tokens.
    func append(_ text: String, to tokens: inout [Int32], limit: Int) {
        guard tokens.count < limit else { return }
        forEachWord(in: text) { word, _ in
            tokens += word.tokens.prefix(limit - tokens.count)
            return tokens.count < limit
        }
    }

    /// Calls `body` with each word and the bytes of the text until it returns `false`.
    package func forEachWord(in text: String, _ body: (Word, UnsafeBufferPointer<UInt8>) -> Bool) {
        var text = text
        text.withUTF8 { bytes in
            BertWords.forEach(in: bytes, rules) { word in
                body(Word(tokens: pieces(of: word.bytes), range: word.range), bytes)
            }
        }
    }

    private func pieces(of word: ArraySlice<UInt8>?) -> [Int32] {
        guard var rest = word else { return [vocabulary.unknown] }
        var pieces: [Int32] = []
        while !rest.isEmpty {
            let table = pieces.isEmpty ? vocabulary.initial : vocabulary.continuing
            guard let (length, identifier) = table.longestPrefix(of: rest) else { return [vocabulary.unknown] }
            pieces.append(identifier)
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}
