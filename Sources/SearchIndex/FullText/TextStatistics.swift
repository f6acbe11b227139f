// SPDX-License-Identifier: Apache-2.0
import GRDB
import UserSearch

/// How many texts there are, and which are the newest: how common a word is, is estimated from these.
struct TextStatistics: Sendable {
    /// How many texts there are.
    let texts: Int64
    /// The oldest text of the sample.
    let sampleStart: Int64
    /// How many texts the sample has.
    let sampled: Int64

    /// The languages of most texts; English is always among them.
    let languages: [WordLanguage]

    /// In each language a word may have another form, which is looked for.
    private static let maximumLanguages = 4

    /// Statistics without a sample.
    init() { (texts, sampleStart, sampled, languages) = (0, 0, 0, [.english]) }

    /// - Parameter sample: at most so many texts are the sample.
    init(_ db: Database, sample: Int64) throws {
        let last = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM text_row ORDER BY id DESC LIMIT 1 OFFSET ?"),
            arguments: [sample - 1])
        texts = try Int64.fetchOne(db.cachedStatement(sql: "SELECT texts FROM text_total")) ?? 0
        let names = try String.fetchAll(
            db.cachedStatement(sql: "SELECT language FROM text_language WHERE texts > 0 ORDER BY texts DESC LIMIT ?"),
            arguments: [Self.maximumLanguages])
        let known = names.compactMap(WordLanguage.init(rawValue:))
        languages = known.contains(.english) ? known : known + [.english]
        sampleStart = last ?? 0
        sampled = last == nil ? texts : sample
    }
}

extension Database {
    /// How many texts match an expression, counted no further than `limit`.
    ///
    /// - Parameter start: Older texts than this do not count.
    func countTexts(_ expression: String, in table: String, from start: Int64 = 0, upTo limit: Int) throws -> Int {
        try Int.fetchOne(
            cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM \(table) WHERE \(table) MATCH ? AND rowid >= ? ORDER BY rowid DESC LIMIT ?)
                    """), arguments: [expression, start, limit]) ?? 0
    }
}

/// Words of titles and keywords in the table of ranked words, whatever their place.
enum TitleWords {
    /// The expression for all texts with a word, or with one that begins with it.
    static func expression(_ word: String, isPrefix: Bool) -> String {
        let words = TitlePlace.allCases.map { expression(word, at: $0, isPrefix: isPrefix) }
        return "(\(words.joined(separator: " OR ")))"
    }

    /// The expression for the texts that have it at a place.
    static func expression(_ word: String, at place: TitlePlace, isPrefix: Bool) -> String {
        guard isPrefix else { return "\"\(RankedWords.mark(of: place))\(word)\"" }
        if word.unicodeScalars.count <= RankedWords.longestBeginning {
            return "\"\(RankedWords.beginningMark(of: place))\(word)\""
        }
        return "\"\(RankedWords.mark(of: place))\(word)\"*"
    }
}

/// Stems in the table of ranked words.
enum RankedStems {
    /// The expression for all texts with one of the stems.
    static func expression(_ stems: [String]) -> String { expression(stems, RankedWords.stemMark) }

    /// The expression for the texts that have one of the stems at a level.
    static func expression(_ stems: [String], level: Int) -> String {
        expression(stems, RankedWords.mark(ofLevel: level))
    }

    private static func expression(_ stems: [String], _ mark: Character) -> String {
        let words = stems.map { "\"\(mark)\($0)\"" }
        return words.count == 1 ? words[0] : "(\(words.joined(separator: " OR ")))"
    }

    /// The levels that have terms, from the strongest; then `nil` for the weaker ones, which all texts stand for.
    static let levels: [Int?] = (RankedWords.firstLevel..<WordStrength.levels).reversed() + [nil]

    /// How strong a word is at a level, about.
    static func strength(ofLevel level: Int?) -> Double {
        level.map(WordStrength.middle) ?? Double(RankedWords.firstLevel) / 2 / Double(WordStrength.levels)
    }

    /// The expression for the texts that have one of the stems at a level, or anywhere if there is no term for it.
    static func expression(_ stems: [String], level: Int?) -> String {
        level.map { expression(stems, level: $0) } ?? expression(stems)
    }
}
