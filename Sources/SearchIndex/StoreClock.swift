// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import Glibc
import Synchronization

/// A clock that no one can set: how long the machine has run, sleep included.
public struct BootClock: Sendable {
    /// A reading.
    public struct Reading: Hashable, Sendable {
        /// Which start of the machine it counts from.
        public var boot: String
        /// Seconds since then.
        public var seconds: Double

        /// Creates a reading.
        public init(boot: String, seconds: Double) { (self.boot, self.seconds) = (boot, seconds) }
    }
    /// Reads it.
    public var read: @Sendable () -> Reading

    /// Creates a clock.
    public init(_ read: @escaping @Sendable () -> Reading) { self.read = read }

    /// `CLOCK_BOOTTIME`, and the kernel's identifier of this boot.
    public static let system: BootClock = {
        let identifier = (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)) ?? ""
        let boot = identifier.trimmingCharacters(in: .whitespacesAndNewlines)
        return BootClock {
            var now = timespec()
            clock_gettime(CLOCK_BOOTTIME, &now)
            return Reading(boot: boot, seconds: Double(now.tv_sec) + Double(now.tv_nsec) / 1e9)
        }
    }()
}

/// The present of a store, in which items have their age although the machine's clock may be wrong by years.
///
/// The store notes now and then what the wall clock and the ``BootClock`` say. If the wall clock is set further than time
/// can explain, the dates of expiry and donation of all items move along (``adjust(_:)``): each keeps the time it has left,
/// whichever of the two settings was wrong. So nothing is decided about which one is right, and a clock that is set forward
/// and back again changes nothing in the end.
final class StoreClock: Sendable {
    /// What was noted, in seconds since 2001-01-01 UTC and since the boot.
    struct Note: Hashable, Sendable {
        var wall: Double
        var boot: BootClock.Reading
    }
    /// Within one run of the machine the wall clock may be corrected by so much, in seconds: a day.
    static let correction = 86400.0
    /// Between two runs a machine may have been off for so long, in seconds: 45 days. What is off for longer gives its
    /// items that time in addition.
    static let absence = 45 * 86400.0
    /// A note is renewed after so long, in seconds.
    private static let renewal = 3600.0

    let wall: @Sendable () -> Double
    private let boot: BootClock?
    private let note = Mutex<Note?>(nil)

    /// - Parameter boot: Without one, every setting of the wall clock is believed.
    init(wall: @escaping @Sendable () -> Double, boot: BootClock?) { (self.wall, self.boot) = (wall, boot) }

    /// The present by which items have expired in one state of the database: the wall clock's, or, while it has been set and
    /// the dates of items have not moved along yet, what it would say if it had not been. To be called in the transaction
    /// that compares dates with it: the dates may move in any other.
    func now(_ db: Database) throws -> Double {
        let wall = wall()
        guard let boot else { return wall }
        let noted: Note?
        do {
            noted = try Self.read(db)
        } catch  where error is RowDecodingError || (error as? DatabaseError)?.resultCode == .SQLITE_CORRUPT {
            // Damage that the next opening finds; it is no reason to find nothing.
            noted = note.withLock { $0 }
        }
        guard let noted else { return wall }
        return wall - Self.jump(from: noted, to: Note(wall: wall, boot: boot.read()))
    }

    /// Whether the wall clock was set and the dates of items have not moved along yet.
    var isSet: Bool {
        guard let boot, let note = note.withLock({ $0 }) else { return false }
        return Self.jump(from: note, to: Note(wall: wall(), boot: boot.read())) != 0
    }

    /// By how much the wall clock was set between two notes, in seconds; 0 if time explains what it says.
    static func jump(from note: Note, to present: Note) -> Double {
        let isSameRun = note.boot.boot == present.boot.boot
        let passed = isSameRun ? max(0, present.boot.seconds - note.boot.seconds) : 0
        return jump(of: present.wall - note.wall - passed, isSameRun: isSameRun)
    }

    private static func jump(of gap: Double, isSameRun: Bool) -> Double {
        guard gap.isFinite else { return 0 }
        return (-correction...(isSameRun ? correction : absence)).contains(gap) ? 0 : gap
    }

    /// Learns at the opening what was noted last.
    func begin(_ db: Database) throws {
        let last = try Self.read(db)
        note.withLock { $0 = last }
    }

    /// Moves the dates of all items along with a wall clock that was set, and notes what the clocks say. To be called first
    /// in each transaction that compares dates with the present.
    ///
    /// - Returns: The present, by which nothing has expired that has time left.
    @discardableResult
    func adjust(_ db: Database) throws -> Double {
        let wall = wall()
        guard let boot, wall.isFinite else { return wall }
        let present = Note(wall: wall, boot: boot.read())
        let last = try note.withLock { $0 } ?? Self.read(db)
        let jump = last.map { Self.jump(from: $0, to: present) } ?? 0
        let isFresh = last.map { $0.boot.boot == present.boot.boot && abs($0.wall - wall) < Self.renewal } ?? false
        if jump == 0 && isFresh { return wall }
        if jump != 0 { try Self.move(db, by: jump) }
        try db.execute(
            sql: "INSERT OR REPLACE INTO clock (id, wall, boot, seconds) VALUES (1, ?, ?, ?)",
            arguments: [wall, present.boot.boot, present.boot.seconds])
        // Not before it is durable: otherwise a transaction that fails would leave items behind.
        db.afterNextTransaction(onCommit: { [self] _ in note.withLock { $0 = present } })
        return wall
    }

    private static func read(_ db: Database) throws -> Note? {
        guard try db.hasTable("clock"),
            let row = try Row.fetchOne(db.cachedStatement(sql: "SELECT wall, boot, seconds FROM clock"))
        else { return nil }
        return try Note(
            wall: row.decode(forColumn: "wall"),
            boot: BootClock.Reading(boot: row.decode(forColumn: "boot"), seconds: row.decode(forColumn: "seconds")))
    }

    /// Each row has a checksum of its dates, so each is read.
    private static func move(_ db: Database, by jump: Double) throws {
        try EngagementTable.move(db, by: jump)
        let update = try db.cachedStatement(sql: "UPDATE item SET expires = ?, donated = ?, checksum = ? WHERE id = ?")
        var last = Int64.min
        while case let items = try Row.fetchAll(
            db.cachedStatement(
                sql: "SELECT \(ItemRow.columns) FROM item WHERE id > ? ORDER BY id LIMIT \(itemsAtOnce)"),
            arguments: [last]
        ).map(ItemRow.init), let end = items.last?.id {
            last = end
            for item in items {
                let (expires, donated) = (item.expires.map { $0 + jump }, item.donated + jump)
                let checksum = RowChecksum.item(
                    bundle: item.bundle, index: item.index, identifier: item.record.uniqueIdentifier, expires: expires,
                    donated: donated, record: item.bytes)
                try update.execute(arguments: [expires, donated, checksum, item.id])
            }
        }
    }

    /// There are items of 16 MiB.
    private static let itemsAtOnce = 4

    /// What the clocks say of a donation that is made now; `nil` if they say nothing that can be kept.
    func moment() -> LogEntry.Moment? {
        let wall = wall()
        guard wall.isFinite else { return nil }
        guard let reading = boot?.read(), reading.seconds.isFinite else {
            return LogEntry.Moment(wall: wall, boot: 0, seconds: 0)
        }
        return LogEntry.Moment(wall: wall, boot: Self.number(of: reading.boot), seconds: reading.seconds)
    }

    /// When an entry was donated that is applied now, by the present clock, and by how much its app's own dates move along.
    ///
    /// - Parameters:
    ///   - moment: What the clocks said then; `nil` if that is not known.
    ///   - now: What ``adjust(_:)`` returned.
    func donation(at moment: LogEntry.Moment?, now: Double) -> (donated: Double, shift: Double) {
        guard let moment else { return (now, 0) }
        guard let boot, moment.boot != 0 else { return (moment.wall, 0) }
        let reading = boot.read()
        let isSameRun = moment.boot == Self.number(of: reading.boot)
        let passed = isSameRun ? max(0, reading.seconds - moment.seconds) : 0
        let shift = Self.jump(of: now - moment.wall - passed, isSameRun: isSameRun)
        return (moment.wall + shift, shift)
    }

    /// A number for a run of the machine, never 0 (FNV-1a).
    private static func number(of boot: String) -> UInt64 {
        boot.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
    }

    /// The note. Derived from nothing: where it was lost, the next setting of the clock is not noticed.
    static let derived = DerivedIndex(
        name: "clock", format: 1, tables: ["clock"],
        schema: """
            CREATE TABLE clock (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                wall REAL NOT NULL,
                boot TEXT NOT NULL,
                seconds REAL NOT NULL
            ) STRICT;
            """,
        fill: { _ in }, check: { _ in [] })
}
