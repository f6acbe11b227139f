// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import MetadataQuery
import TextAnalysis

extension FTS5 {
    typealias Tokenize =
        @convention(c) (
            OpaquePointer?, UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?, CInt,
            (
                @convention(c) (UnsafeMutableRawPointer?, CInt, UnsafePointer<CChar>?, CInt, CInt, CInt) -> CInt
            )?
        ) -> CInt

    /// Registers a stateless tokenizer with a connection.
    static func register(_ name: String, _ db: Database, _ tokenize: Tokenize) throws {
        var functions = fts5_tokenizer(
            xCreate: { _, _, _, handle in
                // FTS5 requires a handle that is not null.
                handle?.pointee = OpaquePointer(bitPattern: 1)
                return SQLITE_OK
            }, xDelete: { _ in }, xTokenize: tokenize)
        let api = FTS5.api(db)
        let status = api.pointee.xCreateTokenizer(UnsafeMutablePointer(mutating: api), name, nil, &functions, nil)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }
}

/// Splits texts into words for FTS5 with the same rules as the rest of the project
/// (``TextAnalyzer``). Full-text search and metadata queries therefore agree on word boundaries.
/// Any part of a text in a script without spaces is a sequence of words.
///
/// - In a text that begins with ``tagMark``, each further scalar is one word (``FullTextTag``).
/// - An expression contains folded words separated by spaces, and is not analyzed further.
enum FullTextTokenizer {
    static let name = "searchlight"
    /// The first byte of a text that consists of tags. Texts of items must not contain it.
    static let tagMark: UInt8 = 1

    /// Registers the tokenizer with a connection.
    static func register(_ db: Database) throws {
        try FTS5.register(name, db) {
            _, context, purpose, text, count, callback in
            guard let text, let callback, count > 0 else { return SQLITE_OK }
            return text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) { bytes in
                // A variable that closures share is checked at each access, which costs as much as
                // a word.
                let status = UnsafeMutablePointer<CInt>.allocate(capacity: 1)
                status.initialize(to: SQLITE_OK)
                defer { status.deallocate() }
                func emit(_ word: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, isVariant: Bool) -> Bool {
                    status.pointee = word.withMemoryRebound(to: CChar.self) { word in
                        callback(
                            context, isVariant ? FTS5_TOKEN_COLOCATED : 0, word.baseAddress, CInt(word.count),
                            CInt(range.lowerBound), CInt(range.upperBound))
                    }
                    return status.pointee == SQLITE_OK
                }
                let text = UnsafeBufferPointer(start: bytes, count: Int(count))
                if purpose & FTS5_TOKENIZE_QUERY != 0, text.first != FullTextTokenizer.tagMark {
                    FullTextTokenizer.forEachPart(of: text) { emit($0, $1, isVariant: false) }
                } else {
                    FullTextTokenizer.forEachWord(in: text) { emit($0.bytes, $0.range, isVariant: $0.isVariant) }
                }
                return status.pointee
            }
        }
    }

    /// Calls `body` with each word of a text, followed by the variants of the word, until it
    /// returns `false`.
    static func forEachWord(in text: String, _ body: (TextAnalyzer.Word) -> Bool) {
        var text = text
        text.withUTF8 { forEachWord(in: $0, body) }
    }

    /// Returns the folded words of a typed text for a search. Omits words that contain tag scalars.
    static func searchWords(of text: String, variants: Bool = true) -> [String] {
        (variants ? TextAnalyzer.searchWords(of: text) : TextAnalyzer.words(of: text)).filter {
            !$0.unicodeScalars.contains(where: FullTextTag.isTag)
        }
    }

    private static func forEachWord(in text: UnsafeBufferPointer<UInt8>, _ body: (TextAnalyzer.Word) -> Bool) {
        if text.first == tagMark {
            return forEachTag(in: text) { body(TextAnalyzer.Word(bytes: $0, range: $1, replaced: 0)) }
        }
        TextAnalyzer.forEachWord(in: text, variants: true) { word in
            // Tag scalars have no meaning in an ordinary text. No other scalar begins with their
            // first byte.
            guard word.bytes.contains(where: { $0 >= 0xF3 }),
                String(decoding: word.bytes, as: UTF8.self).unicodeScalars.contains(where: FullTextTag.isTag)
            else { return body(word) }
            return true
        }
    }

    /// Calls `body` with the words of an expression.
    private static func forEachPart(
        of text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
    ) {
        for part in text.split(separator: UInt8(ascii: " ")) {
            guard body(UnsafeBufferPointer(rebasing: part), part.startIndex..<part.endIndex) else { return }
        }
    }

    private static func forEachTag(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
    ) {
        // All tags have four bytes.
        var position = 1
        while position + 4 <= text.count {
            let range = position..<(position + 4)
            guard body(UnsafeBufferPointer(rebasing: text[range]), range) else { return }
            position += 4
        }
    }
}
