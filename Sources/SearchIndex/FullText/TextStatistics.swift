// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// The number of texts, and a sample of the newest texts from which word frequencies are estimated.
struct TextStatistics: Sendable {
    /// The number of texts.
    let texts: Int64
    /// The number of the oldest text in the sample.
    let sampleStart: Int64
    /// The number of texts in the sample.
    let sampled: Int64

    /// The most common languages of the texts; always includes English.
    let languages: [WordLanguage]
    /// The other languages of texts.
    let otherLanguages: [WordLanguage]

    /// The largest number of languages in which a search looks up forms of its words.
    private static let maximumLanguages = 4

    /// Creates statistics without a sample.
    init() { (texts, sampleStart, sampled, languages, otherLanguages) = (0, 0, 0, [.english], []) }

    /// - Parameter sample: The largest number of texts in the sample.
    init(_ db: Database, sample: Int64) throws {
        let last = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM text_row ORDER BY id DESC LIMIT 1 OFFSET ?"),
            arguments: [sample - 1])
        texts = try Int64.fetchOne(db.cachedStatement(sql: "SELECT texts FROM text_total")) ?? 0
        (languages, otherLanguages) = try Self.languages(db)
        sampleStart = last ?? 0
        sampled = last == nil ? texts : sample
    }
}

extension TextStatistics {
    /// Returns the most common languages of the texts, including English, and the others.
    static func languages(_ db: Database) throws -> (common: [WordLanguage], others: [WordLanguage]) {
        let names = try String.fetchAll(
            db.cachedStatement(sql: "SELECT language FROM text_language WHERE texts > 0 ORDER BY texts DESC LIMIT ?"),
            arguments: [WordLanguage.allCases.count])
        let known = names.compactMap(WordLanguage.init(rawValue:))
        let most = Array(known.prefix(maximumLanguages))
        return (
            most.contains(.english) ? most : most + [.english],
            known.dropFirst(maximumLanguages).filter { $0 != .english }
        )
    }
}

extension Database {
    /// Returns the number of texts that match an expression, counted up to `limit`.
    ///
    /// - Parameter start: The number of the oldest text to count.
    func countTexts(_ expression: String, in table: String, from start: Int64 = 0, upTo limit: Int) throws -> Int {
        try Int.fetchOne(
            cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM \(table) WHERE \(table) MATCH ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?)
                    """), arguments: [expression, start, limit]) ?? 0
    }
}

/// Builds expressions for words of titles and keywords in the table of ranked words.
enum TitleWords {
    /// Returns the expression for all texts with a word, or with a word that begins with it, at any
    /// position.
    static func expression(_ word: String, isPrefix: Bool) -> String {
        let words = TitlePlace.allCases.map { expression(word, at: $0, isPrefix: isPrefix) }
        return "(\(words.joined(separator: " OR ")))"
    }

    /// Returns the expression for the texts that have a word at a position.
    static func expression(_ word: String, at place: TitlePlace, isPrefix: Bool) -> String {
        guard isPrefix else { return "\"\(RankedWords.mark(of: place))\(word)\"" }
        if word.unicodeScalars.count <= RankedWords.longestBeginning {
            return "\"\(RankedWords.beginningMark(of: place))\(word)\""
        }
        return "\"\(RankedWords.mark(of: place))\(word)\"*"
    }
}

/// Builds expressions for stems in the table of ranked words.
enum RankedStems {
    /// Returns the expression for all texts with one of the stems.
    static func expression(_ stems: [String]) -> String { expression(stems, RankedWords.stemMark) }

    /// Returns the expression for the texts that have one of the stems at a level.
    static func expression(_ stems: [String], level: Int) -> String {
        expression(stems, RankedWords.mark(ofLevel: level))
    }

    /// Returns the expression for all texts with one of the stems in titles or keywords.
    static func titleExpression(_ stems: [String]) -> String { expression(stems, RankedWords.titleStemMark) }

    /// Returns the expression for the texts that have one of the stems in titles or keywords, at a
    /// fine level.
    static func titleExpression(_ stems: [String], fineLevel: Int) -> String {
        expression(stems, RankedWords.mark(ofFineLevel: fineLevel))
    }

    /// Returns the expression for the texts that have one of the stems in titles or keywords, at a
    /// level.
    static func titleExpression(_ stems: [String], level: Int) -> String {
        let words = fineLevels(of: level).flatMap { fine in
            stems.map { "\"\(RankedWords.mark(ofFineLevel: fine))\($0)\"" }
        }
        return "(\(words.joined(separator: " OR ")))"
    }

    /// Returns the fine levels of a level, strongest first.
    static func fineLevels(of level: Int) -> ReversedCollection<Range<Int>> {
        let count = WordStrength.fineLevels / WordStrength.levels
        return (level * count..<(level + 1) * count).reversed()
    }

    private static func expression(_ stems: [String], _ mark: String) -> String {
        let words = stems.map { "\"\(mark)\($0)\"" }
        return words.count == 1 ? words[0] : "(\(words.joined(separator: " OR ")))"
    }

    /// The levels that have their own terms, strongest first, then `nil` for all weaker levels.
    static let levels: [Int?] = (RankedWords.firstLevel..<WordStrength.levels).reversed() + [nil]

    /// Returns the approximate strength of a word at a level.
    static func strength(ofLevel level: Int?) -> Double {
        level.map(WordStrength.middle(ofLevel:)) ?? Double(RankedWords.firstLevel) / 2 / Double(WordStrength.levels)
    }

    /// Returns the expression for the texts that have one of the stems at a level, or at any level
    /// for `nil`.
    static func expression(_ stems: [String], level: Int?) -> String {
        level.map { expression(stems, level: $0) } ?? expression(stems)
    }
}
