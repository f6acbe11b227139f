// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import UserSearch

/// The numbers of texts. They grow with the item's date (``Freshness``), and within a day with each donation. FTS5 returns matches in
/// the order of their numbers, so the newest items come first, in whatever order they were donated.
enum TextNumber {
    private static let dayBits: Int64 = 24
    private static let seconds = 86400.0
    /// The last day that has numbers of its own: 1,400 years after 2001.
    private static let maximumDay: Int64 = 1 << 19

    /// The day of a date, counted from 2001-01-01 UTC. Earlier dates are day 0.
    static func day(of date: Double) -> Int64 {
        guard date.isFinite, date > 0 else { return 0 }
        return min(maximumDay, Int64(min(date / seconds, Double(maximumDay))))
    }

    /// The day that a number stands for.
    static func day(ofNumber number: Int64) -> Int64 { number >> dayBits }

    /// All numbers of a day.
    static func numbers(ofDay day: Int64) -> Range<Int64> { (day << dayBits)..<((day + 1) << dayBits) }

    /// How many days a text is old.
    static func age(of number: Int64, now: Double) -> Int { Int(day(of: now) - day(ofNumber: number)) }
}

/// Allocates numbers within one transaction.
final class TextNumberAllocator {
    private let db: Database
    /// The last number that is taken, for each day that was asked for.
    private var last: [Int64: Int64] = [:]
    private static let maximumKept = 4096
    private var lastCounted: Int64?

    /// Whether each number follows the last one, whatever the date.
    private let countsUp: Bool

    /// - Parameter countsUp: Whether each number follows the last one, whatever the date. A migration needs that, since it proceeds
    ///   in the order of numbers.
    init(_ db: Database, countsUp: Bool = false) { (self.db, self.countsUp) = (db, countsUp) }

    /// The next number for an item of a date.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_FULL` if 16 million items are of one day.
    func next(for date: Double) throws -> Int64 {
        if countsUp {
            let newest =
                try lastCounted ?? Int64.fetchOne(
                    db,
                    sql: """
                        SELECT max(coalesce((SELECT max(id) FROM text_row), 0), coalesce(max(last), 0), coalesce(max(through), 0))
                        FROM index_migration
                        """) ?? 0
            lastCounted = newest + 1
            return newest + 1
        }
        let day = TextNumber.day(of: date)
        let numbers = TextNumber.numbers(ofDay: day)
        let last = try last[day] ?? lastTaken(numbers)
        guard last + 1 < numbers.upperBound else {
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "a day has too many items")
        }
        if self.last.count >= Self.maximumKept { self.last.removeAll(keepingCapacity: true) }
        self.last[day] = last + 1
        return last + 1
    }

    private func lastTaken(_ numbers: Range<Int64>) throws -> Int64 {
        let newest = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM text_row WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1"),
            arguments: [numbers.lowerBound, numbers.upperBound])
        return newest ?? numbers.lowerBound
    }
}
