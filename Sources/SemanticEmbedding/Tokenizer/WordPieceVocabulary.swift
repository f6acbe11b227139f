// SPDX-License-Identifier: Apache-2.0
import JSONText

/// The word pieces that a model knows, with their numbers.
///
/// Control tokens such as `[CLS]` are not among the pieces, so a text cannot produce them.
package struct WordPieceVocabulary: Sendable {
    /// The largest number of entries.
    static let maximumEntries = 1_000_000
    /// The length of the longest entry, in bytes.
    private static let maximumEntryBytes = 512
    /// The prefix of a piece that continues a word.
    static let continuation = "##"
    private static let unknownName = "[UNK]"
    private static let startName = "[CLS]"
    private static let endName = "[SEP]"
    /// The control tokens of every BERT vocabulary.
    private static let controlNames: Set<String> = [unknownName, startName, endName, "[PAD]", "[MASK]"]

    /// The pieces that begin a word.
    let initial: PieceTable
    /// The pieces that continue a word, without their prefix.
    let continuing: PieceTable
    /// The token for a word that cannot be divided into pieces.
    package let unknown: Int32
    /// The token at the beginning of every text.
    package let start: Int32
    /// The token at the end of every text.
    package let end: Int32
    /// The largest entry number.
    package let largest: Int32

    /// Creates a vocabulary.
    ///
    /// - Parameters:
    ///   - entries: The entries with their numbers. If two entries are equal, the last one is used.
    ///   - controls: The control tokens, in addition to BERT's.
    init(entries: [(text: String, number: Int)], controls: Set<String> = []) throws(ModelProblem) {
        guard entries.count <= Self.maximumEntries else {
            throw .unsupported("it has \(entries.count) entries; the limit is \(Self.maximumEntries).")
        }
        // Compared by bytes, because texts that differ only in normalization are different entries.
        var numbers: [[UInt8]: Int32] = Dictionary(minimumCapacity: entries.count)
        for (text, number) in entries {
            guard (0..<Self.maximumEntries).contains(number) else {
                throw .unsupported("the entry “\(text.cut)” has the number \(number).")
            }
            guard text.utf8.count <= Self.maximumEntryBytes else {
                throw .unsupported("the entry “\(text.cut)” has more than \(Self.maximumEntryBytes) bytes.")
            }
            numbers[Array(text.utf8)] = Int32(number)
        }
        func control(_ name: String) throws(ModelProblem) -> Int32 {
            guard let number = numbers[Array(name.utf8)] else { throw .damaged("it has no entry “\(name)”.") }
            return number
        }
        unknown = try control(Self.unknownName)
        start = try control(Self.startName)
        end = try control(Self.endName)
        largest = numbers.values.max() ?? 0

        let hidden = Set(Self.controlNames.union(controls).map { Array($0.utf8) })
        let mark = Array(Self.continuation.utf8)
        var initial: [([UInt8], Int32)] = []
        var continuing: [([UInt8], Int32)] = []
        for (entry, number) in numbers where !entry.isEmpty && !hidden.contains(entry) {
            if entry.count > mark.count, entry.starts(with: mark) {
                continuing.append((Array(entry[mark.count...]), number))
            } else {
                initial.append((entry, number))
            }
        }
        self.initial = PieceTable(initial)
        self.continuing = PieceTable(continuing)
    }

    /// Reads `vocab.txt`, which has one entry per line. An entry's number is its line number,
    /// starting at 0.
    package init(readingLines bytes: [UInt8]) throws(ModelProblem) {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .damaged("it is not UTF-8.") }
        // Split by bytes, because Swift treats a carriage return and a line feed as one character.
        var lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        let entries = lines.enumerated().map { number, line in
            (String(line.last == UInt8(ascii: "\r") ? line.dropLast() : line) ?? "", number)
        }
        try self.init(entries: entries)
    }
}
