// SPDX-License-Identifier: Apache-2.0
import GRDB
import TestSupport
import Testing

@testable import SearchIndex

@Suite("Numbers of texts")
struct TextNumberTests {
    private static let day = 86400.0

    /// Returns a database that contains only numbers.
    private func numbers(_ taken: [Int64] = []) throws -> DatabaseQueue {
        let queue = try DatabaseQueue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE text_row (id INTEGER PRIMARY KEY, item INTEGER NOT NULL)")
            for number in taken { try db.execute(sql: "INSERT INTO text_row VALUES (?, 1)", arguments: [number]) }
        }
        return queue
    }

    @Test("They grow with the day, and within a day with each item")
    func order() throws {
        try numbers().write { db in
            let allocator = TextNumberAllocator(db)
            let (old, new) = (100 * Self.day, 200 * Self.day)
            let first = try allocator.next(for: new)
            let second = try allocator.next(for: old)
            let third = try allocator.next(for: new)
            #expect(second < first && first < third)
            #expect(TextNumber.day(ofNumber: second) == 100 && TextNumber.day(ofNumber: third) == 200)
        }
    }

    @Test("A full day uses numbers of later days, in order, and none twice")
    func fullDay() throws {
        try numbers().write { db in
            let allocator = TextNumberAllocator(db)
            var all: [Int64] = []
            // More numbers than all the days to which a full day may overflow can hold.
            for _ in 0..<300_000 { all.append(try allocator.next(for: 5 * Self.day)) }
            #expect(all == all.sorted() && Set(all).count == all.count)
            let other = try (0..<10_000).map { _ in try allocator.next(for: 40 * Self.day) }
            #expect(Set(other).isDisjoint(with: all) && Set(other).count == 10_000)
            let early = try allocator.next(for: 4 * Self.day)
            #expect(TextNumber.day(ofNumber: early) == 4)
        }
    }

    @Test("Used numbers are not given again, even by the next allocator")
    func taken() throws {
        let numbers = try numbers(Array(TextNumber.numbers(ofDay: 9)))
        try numbers.write { db in
            let number = try TextNumberAllocator(db).next(for: 9 * Self.day)
            #expect(TextNumber.day(ofNumber: number) == 10)
            try db.execute(sql: "INSERT INTO text_row VALUES (?, 1)", arguments: [number])
            #expect(try TextNumberAllocator(db).next(for: 9 * Self.day) == number + 1)
        }
    }
}
