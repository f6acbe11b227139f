// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import UserSearch

/// Assigns numbers to texts. Numbers increase with the item's date (``Freshness``), and within a
/// day with each donation. FTS5 returns matches in number order, so the newest items come first,
/// regardless of the order of donation.
///
/// FTS5 stores the differences between the numbers of a list in groups of 7 bits. To keep them
/// small, each day has few numbers, and a day with more items also uses numbers of later days. The
/// day derived from a number is therefore approximate.
enum TextNumber {
    private static let dayBits: Int64 = 12
    private static let seconds = 86400.0
    /// The last day with separate numbers: 1,400 years after 2001.
    private static let maximumDay: Int64 = 1 << 19

    /// Returns the day of a date, counted from 2001-01-01 UTC. Earlier dates are day 0.
    static func day(of date: Double) -> Int64 {
        guard date.isFinite, date > 0 else { return 0 }
        return min(maximumDay, Int64(min(date / seconds, Double(maximumDay))))
    }

    /// Returns the day of a number.
    static func day(ofNumber number: Int64) -> Int64 { number >> dayBits }

    /// Returns all numbers of a day.
    static func numbers(ofDay day: Int64) -> Range<Int64> { (day << dayBits)..<((day + 1) << dayBits) }

    /// Returns the age of a text in days.
    static func age(of number: Int64, now: Double) -> Int { Int(day(of: now) - day(ofNumber: number)) }
}

/// Allocates numbers within one transaction.
final class TextNumberAllocator {
    private let db: Database
    /// The last used number of each requested day.
    private var last: [Int64: Int64] = [:]
    /// The days that received the latest items of full days, by the full day.
    private var spilled: [Int64: Int64] = [:]
    /// The largest number used in the table.
    private var largestBefore: Int64?
    private var largestGiven: Int64 = 0
    private static let maximumKept = 4096
    /// The number of following days whose numbers a full day may use. After these, it uses numbers
    /// above the largest.
    private static let maximumSpill: Int64 = 64

    /// `true` if each number follows the previous one, regardless of the date.
    private let countsUp: Bool

    /// - Parameter countsUp: `true` if each number follows the previous one, regardless of the
    ///   date. A migration requires this, because it proceeds in number order.
    init(_ db: Database, countsUp: Bool = false) { (self.db, self.countsUp) = (db, countsUp) }

    /// Returns the next number for the date of an item.
    ///
    /// - Throws: `DatabaseError`; `SQLITE_FULL` if all numbers are used.
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
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "all text numbers are in use")
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
