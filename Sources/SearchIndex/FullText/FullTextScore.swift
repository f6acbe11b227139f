// SPDX-License-Identifier: Apache-2.0
import GRDB
import GRDBSQLite

/// The first of two rankings, which sees all candidates and only what FTS5 knows of them: how often and in which columns
/// each phrase occurs. BM25F without the rarity of words: all words must occur, so rarity decides little, and asking for
/// it would walk through all occurrences of each word.
///
/// For each phrase the weights of the columns it stands in are added up, once for each occurrence, and saturate:
/// `s / (s + 5)`. The score is the mean over the phrases that occur, from 0 up to 1.
enum FullTextScore {
    /// The SQL function; its arguments are the table and a weight for each column.
    static let function = "searchlight_score"
    /// What an occurrence in each column is worth, by the order of the columns of ``FullTextIndex/titleTable`` and
    /// ``FullTextIndex/textTable``: a word in the title says more about an item than one in its text. Tags weigh nothing.
    static let titleWeights = [10.0, 6, 0]
    static let textWeights = [10.0, 6, 3, 1, 0]
    /// The first word of a column is worth so much more.
    private static let firstWordFactor = 1.5
    private static let saturation = 5.0
    /// Of one phrase so many occurrences are looked at.
    private static let maximumOccurrences: CInt = 16

    /// The score of an item whose title begins with what is asked.
    static let best = 0.75
    /// The score of an item of which FTS5 was asked nothing: that of a word in the description.
    static let unknown = 0.375

    /// Makes the function known to a connection.
    static func register(_ db: Database) throws {
        let api = FTS5.api(db)
        let status = api.pointee.xCreateFunction(
            UnsafeMutablePointer(mutating: api), function, nil,
            { api, context, result, count, values in
                guard let api, let context, let result else { return }
                FullTextScore.score(api.pointee, context, result, count, values)
            }, nil)
        guard status == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: status)) }
    }

    private static func score(
        _ api: Fts5ExtensionApi, _ context: OpaquePointer, _ result: OpaquePointer, _ count: CInt,
        _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) {
        var total = 0.0
        var phrases = 0.0
        for phrase in 0..<api.xPhraseCount(context) {
            var iterator = Fts5PhraseIter()
            var column: CInt = 0
            var offset: CInt = 0
            guard api.xPhraseFirst(context, phrase, &iterator, &column, &offset) == SQLITE_OK else { continue }
            var sum = 0.0
            var occurrences: CInt = 0
            while column >= 0, occurrences < maximumOccurrences {
                let weight = column < count ? sqlite3_value_double(values?[Int(column)]) : 0
                sum += offset == 0 ? weight * firstWordFactor : weight
                occurrences += 1
                api.xPhraseNext(context, &iterator, &column, &offset)
            }
            // Phrases of tags and of alternatives that do not occur are no part of the mean.
            guard sum > 0 else { continue }
            total += sum / (sum + saturation)
            phrases += 1
        }
        sqlite3_result_double(result, phrases > 0 ? total / phrases : 0)
    }
}
