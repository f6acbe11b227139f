// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import Glibc
import Synchronization

/// A clock that cannot be set: the time since the machine started, including sleep.
public struct BootClock: Sendable {
    /// A value of the clock.
    public struct Reading: Hashable, Sendable {
        /// The identifier of the boot.
        public var boot: String
        /// The number of seconds since the boot.
        public var seconds: Double

        /// Creates a reading.
        public init(boot: String, seconds: Double) { (self.boot, self.seconds) = (boot, seconds) }
    }
    /// Reads the clock. Called on any thread.
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

/// The clock of a store. It keeps the ages of items correct even if the wall clock is years off.
///
/// The store regularly records the wall clock and the ``BootClock``. If the wall clock jumps
/// further than elapsed time explains, all expiry and donation dates are shifted by the same amount
/// (``adjust(_:)``). Each item keeps its remaining lifetime, whichever of the two settings was
/// wrong. Setting a clock forward and back again has no net effect.
final class StoreClock: Sendable {
    /// A recorded pair of clock values: seconds since 2001-01-01 UTC, and seconds since the boot.
    struct Note: Hashable, Sendable {
        var wall: Double
        var boot: BootClock.Reading
    }
    /// The largest jump of the wall clock within one boot that is tolerated, in seconds: one day.
    static let correction = 86400.0
    /// The longest time between two boots that is accepted as elapsed time, in seconds: 45 days. If
    /// the machine is off for longer, the lifetimes of items are extended accordingly.
    static let absence = 45 * 86400.0
    /// The interval after which the record is renewed, in seconds.
    private static let renewal = 3600.0

    let wall: @Sendable () -> Double
    private let boot: BootClock?
    private let note = Mutex<Note?>(nil)

    /// - Parameter boot: The boot clock; `nil` to trust every setting of the wall clock.
    init(wall: @escaping @Sendable () -> Double, boot: BootClock?) { (self.wall, self.boot) = (wall, boot) }

    /// Returns the time used to decide expiry, for one state of the database. It is the wall clock,
    /// minus any jump by which the dates have not been shifted yet. Call it in the transaction that
    /// compares dates with it, because any other transaction may shift the dates.
    func now(_ db: Database) throws -> Double {
        let wall = wall()
        guard let boot else { return wall }
        let noted: Note?
        do {
            noted = try Self.read(db)
        } catch  where error is RowDecodingError || (error as? DatabaseError)?.isOfDamagedTable == true {
            // Damage is found by the next opening; until then, searches must still return results.
            noted = note.withLock { $0 }
        }
        guard let noted else { return wall }
        return wall - Self.jump(from: noted, to: Note(wall: wall, boot: boot.read()))
    }

    /// `true` if the wall clock was set and the dates of items have not been shifted yet.
    var isSet: Bool {
        guard let boot, let note = note.withLock({ $0 }) else { return false }
        return Self.jump(from: note, to: Note(wall: wall(), boot: boot.read())) != 0
    }

    /// Returns the jump of the wall clock between two notes, in seconds; 0 if elapsed time explains
    /// the difference.
    static func jump(from note: Note, to present: Note) -> Double {
        let isSameRun = note.boot.boot == present.boot.boot
        let passed = isSameRun ? max(0, present.boot.seconds - note.boot.seconds) : 0
        return jump(of: present.wall - note.wall - passed, isSameRun: isSameRun)
    }

    private static func jump(of gap: Double, isSameRun: Bool) -> Double {
        guard gap.isFinite else { return 0 }
        return (-correction...(isSameRun ? correction : absence)).contains(gap) ? 0 : gap
    }

    /// Reads the last note when the store is opened.
    func begin(_ db: Database) throws {
        let last = try Self.read(db)
        note.withLock { $0 = last }
    }

    /// Shifts the dates of all items if the wall clock was set, and records both clocks. Call it at
    /// the start of each transaction that compares dates with the current time.
    ///
    /// - Returns: The current time. By this time, no item with remaining lifetime has expired.
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
        // Updated only after the commit: otherwise a failed transaction would leave the dates
        // unshifted.
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

    /// Reads every row, because the checksum of each row covers its dates.
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

    /// The number of items shifted at a time; a record may be as large as 16 MiB.
    private static let itemsAtOnce = 4

    /// Returns both clock values for a donation made now; `nil` if the wall clock is not finite.
    func moment() -> LogEntry.Moment? {
        let wall = wall()
        guard wall.isFinite else { return nil }
        guard let reading = boot?.read(), reading.seconds.isFinite else {
            return LogEntry.Moment(wall: wall, boot: 0, seconds: 0)
        }
        return LogEntry.Moment(wall: wall, boot: Self.number(of: reading.boot), seconds: reading.seconds)
    }

    /// Returns the donation time of an entry in terms of the current clock, and the amount by which
    /// to shift the dates that its app provided.
    ///
    /// - Parameters:
    ///   - moment: The clock values at the donation; `nil` if unknown.
    ///   - now: The result of ``adjust(_:)``.
    func donation(at moment: LogEntry.Moment?, now: Double) -> (donated: Double, shift: Double) {
        guard let moment else { return (now, 0) }
        guard let boot, moment.boot != 0 else { return (moment.wall, 0) }
        let reading = boot.read()
        let isSameRun = moment.boot == Self.number(of: reading.boot)
        let passed = isSameRun ? max(0, reading.seconds - moment.seconds) : 0
        let shift = Self.jump(of: now - moment.wall - passed, isSameRun: isSameRun)
        return (moment.wall + shift, shift)
    }

    /// Returns a nonzero hash of a boot identifier (FNV-1a).
    private static func number(of boot: String) -> UInt64 {
        boot.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } | 1
    }

    /// The table of the note. It is not derived from other data: if it is lost, the next clock jump
    /// goes unnoticed.
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
