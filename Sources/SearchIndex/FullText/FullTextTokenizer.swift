// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite
import MetadataQuery

/// Divides texts into words for FTS5: those of ``Words``, folded in case and diacritics (``TextFolding``), so that full
/// text and metadata queries agree on what a word is, and any part of a text written without spaces is a sequence of
/// words.
///
/// A text that begins with ``tagMark`` is not divided into words: each of its further scalars is a word (``FullTextTag``).
enum FullTextTokenizer {
    static let name = "searchlight"
    /// The longest word in bytes of UTF-8; of longer ones, which nobody types, this much is the word.
    static let maximumWordBytes = 96
    /// Begins a text of tags. Texts of items must not hold it.
    static let tagMark: UInt8 = 1

    /// Makes the tokenizer known to a connection.
    static func register(_ db: Database) throws {
        // It has no state; FTS5 wants something that is not null.
        var functions = fts5_tokenizer(
            xCreate: { _, _, _, handle in
                handle?.pointee = OpaquePointer(bitPattern: 1)
                return SQLITE_OK
            }, xDelete: { _ in },
            xTokenize: { _, context, _, text, count, callback in
                guard let text, let callback, count > 0 else { return SQLITE_OK }
                return text.withMemoryRebound(to: UInt8.self, capacity: Int(count)) { bytes in
                    var status = SQLITE_OK
                    FullTextTokenizer.forEachWord(in: UnsafeBufferPointer(start: bytes, count: Int(count))) {
                        word, range in
                        word.withMemoryRebound(to: CChar.self) { word in
                            status = callback(
                                context, 0, word.baseAddress, CInt(word.count), CInt(range.lowerBound),
                                CInt(range.upperBound))
                        }
                        return status == SQLITE_OK
                    }
                    return status
                }
            })
        let api = FTS5.api(db)
        let status = api.pointee.xCreateTokenizer(UnsafeMutablePointer(mutating: api), name, nil, &functions, nil)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }

    /// The folded words of a text, in order.
    static func words(of text: String) -> [String] {
        var words: [String] = []
        forEachWord(in: text) { word in
            words.append(String(decoding: word, as: UTF8.self))
            return true
        }
        return words
    }

    /// Calls `body` with each folded word until it returns `false`.
    static func forEachWord(in text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Bool) {
        var text = text
        text.withUTF8 { bytes in forEachWord(in: bytes) { word, _ in body(word) } }
    }

    /// Calls `body` with each folded word and about where it stands, in bytes, until it returns `false`.
    static func forEachWord(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
    ) {
        if text.first == tagMark { return forEachTag(in: text, body) }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: maximumWordBytes) { buffer in
            var position = 0
            while position < text.count {
                // A run of letters, digits and whatever is not ASCII: no word reaches beyond one.
                guard table[Int(text[position])] != 0 else {
                    position += 1
                    continue
                }
                let start = position
                var isASCII = true
                var count = 0
                while position < text.count {
                    let folded = table[Int(text[position])]
                    guard folded != 0 else { break }
                    isASCII = isASCII && folded < 0x80
                    if count < maximumWordBytes {
                        buffer[count] = folded
                        count += 1
                    }
                    position += 1
                }
                if isASCII {
                    guard body(UnsafeBufferPointer(rebasing: buffer[..<count]), start..<position) else { return }
                } else {
                    let run = UnsafeBufferPointer(rebasing: text[start..<position])
                    guard forEachWord(inRun: run, at: start..<position, body) else { return }
                }
            }
        }
    }

    /// What each byte becomes: 0 between words, small ASCII letters and digits, 0xFF for parts of other scalars.
    private static let table: [UInt8] = (0...255).map { byte in
        switch byte {
        case 0x30...0x39, 0x61...0x7A: UInt8(byte)
        case 0x41...0x5A: UInt8(byte + 32)
        case 0x80...: 0xFF
        default: 0
        }
    }

    private static func forEachWord(
        inRun run: UnsafeBufferPointer<UInt8>, at range: Range<Int>,
        _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
    ) -> Bool {
        let text = String(decoding: run, as: UTF8.self)
        for word in Words(text) {
            // The scalars of tags stand for nothing in a text.
            let scalars = text[word].unicodeScalars
            if scalars.contains(where: FullTextTag.isTag) { continue }
            var folded = TextFolding.folded(String(scalars), case: true, diacritics: true)
            let goesOn = folded.withUTF8 { bytes in
                bytes.isEmpty || body(UnsafeBufferPointer(rebasing: bytes[..<cut(bytes)]), range)
            }
            guard goesOn else { return false }
        }
        return true
    }

    /// How much of a word is kept: whole scalars only.
    private static func cut(_ word: UnsafeBufferPointer<UInt8>) -> Int {
        guard word.count > maximumWordBytes else { return word.count }
        var end = maximumWordBytes
        while end > 0, word[end] & 0xC0 == 0x80 { end -= 1 }
        return end
    }

    private static func forEachTag(
        in text: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>, Range<Int>) -> Bool
    ) {
        // All tags take four bytes.
        var position = 1
        while position + 4 <= text.count {
            let range = position..<(position + 4)
            guard body(UnsafeBufferPointer(rebasing: text[range]), range) else { return }
            position += 4
        }
    }
}
