// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import UserSearch

/// The numbers of texts. They grow with the item's date (``Freshness``), and within a day with each donation. FTS5 returns matches in
/// the order of their numbers, so the newest items come first, in whatever order they were donated.
///
/// FTS5 stores the differences between the numbers of a list, in bytes of 7 bits. So a day has few numbers, and a day with more
/// items takes numbers of the days behind it. Then the day that a number stands for is only about the item's day.
enum TextNumber {
    private static let dayBits: Int64 = 12
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
    /// The days that took the last items of full days.
    private var spilled: [Int64: Int64] = [:]
    /// The largest number that was taken in the table, and the largest that was given.
    private var largestBefore: Int64?
    private var largestGiven: Int64 = 0
    private static let maximumKept = 4096
    /// A full day takes numbers of this many days behind it, and then the largest numbers.
    private static let maximumSpill: Int64 = 64

    /// Whether each number follows the last one, whatever the date.
    private let countsUp: Bool

    /// - Parameter countsUp: Whether each number follows the last one, whatever the date. A migration needs that, since it proceeds
    ///   in the order of numbers.
    init(_ db: Database, countsUp: Bool = false) { (self.db, self.countsUp) = (db, countsUp) }

    /// The next number for an item of a date.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_FULL` if all numbers are taken.
    func next(for date: Double) throws -> Int64 {
        let number = try nextNumber(ofDay: TextNumber.day(of: date))
        if last.count >= Self.maximumKept { last.removeAll(keepingCapacity: true) }
        last[TextNumber.day(ofNumber: number)] = number
        largestGiven = max(largestGiven, number)
        return number
    }

    private func nextNumber(ofDay day: Int64) throws -> Int64 {
        if !countsUp {
            for near in (spilled[day] ?? day)..<(day + Self.maximumSpill) {
                let numbers = TextNumber.numbers(ofDay: near)
                let last = try last[near] ?? lastTaken(numbers)
                if last + 1 < numbers.upperBound {
                    if near > day { spilled[day] = near }
                    return last + 1
                }
            }
            spilled[day] = day + Self.maximumSpill
        }
        let before = try largestBefore ?? largestTaken()
        largestBefore = before
        let largest = max(before, largestGiven)
        guard largest < .max else {
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "all numbers of texts are taken")
        }
        return largest + 1
    }

    private func largestTaken() throws -> Int64 {
        let migrated = countsUp ? " UNION ALL SELECT max(max(last), max(through)) FROM index_migration" : ""
        return try Int64.fetchOne(
            db, sql: "SELECT max(number) FROM (SELECT max(id) AS number FROM text_row\(migrated))") ?? 0
    }

    private func lastTaken(_ numbers: Range<Int64>) throws -> Int64 {
        let newest = try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT id FROM text_row WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1"),
            arguments: [numbers.lowerBound, numbers.upperBound])
        return newest ?? numbers.lowerBound
    }
}
