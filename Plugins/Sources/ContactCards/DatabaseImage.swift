// SPDX-License-Identifier: Apache-2.0
import FileReading
import Glibc

/// The bytes of an SQLite database at one point in time, with its write-ahead log applied.
///
/// The files are only read, so the program that owns the database is never blocked. SQLite itself
/// would need a file next to the database to read its log, which a confined worker cannot create.
struct DatabaseImage {
    /// The maximum size of the database, and of the log, in bytes.
    static let maximumSize = 96 << 20
    private static let attempts = 3

    var bytes: [UInt8]

    /// Reads a database.
    ///
    /// - Throws: `EAGAIN` if a program is writing it.
    init(of file: OpenedFile, path: String) throws(SkipReason) {
        for _ in 1...Self.attempts {
            let before = try Stamp(path)
            guard before.journal == 0 else { throw .system(errno: EAGAIN) }
            guard file.size <= Int64(Self.maximumSize) else {
                throw .tooLarge(size: file.size, limit: Int64(Self.maximumSize))
            }
            var bytes = try file.readAll(limit: Self.maximumSize)
            if before.log > 0 {
                let log = try OpenedFile(in: nil, name: path + "-wal", followingLinks: false, opener: .system)
                guard log.size <= Int64(Self.maximumSize) else {
                    throw .tooLarge(size: log.size, limit: Int64(Self.maximumSize))
                }
                WriteAheadFrames(try log.readAll(limit: Self.maximumSize))?.apply(to: &bytes, limit: Self.maximumSize)
            }
            guard try Stamp(path) == before else { continue }
            // Without a log file, SQLite opens only databases that do not use a write-ahead log.
            if bytes.count > 20, bytes[18] == 2, bytes[19] == 2 { (bytes[18], bytes[19]) = (1, 1) }
            self.bytes = bytes
            return
        }
        throw .system(errno: EAGAIN)
    }

    /// The sizes and times of a database's files.
    private struct Stamp: Equatable {
        var database: [Int64] = []
        var log: Int64 = 0
        var logTimes: [Int64] = []
        /// The size of the rollback journal, which a transaction removes when it ends.
        var journal: Int64 = 0

        init(_ path: String) throws(SkipReason) {
            database = Self.facts(path) ?? []
            if database.isEmpty { throw .vanished }
            if let facts = Self.facts(path + "-wal") { (log, logTimes) = (facts[0], facts) }
            journal = Self.facts(path + "-journal")?[0] ?? 0
        }

        private static func facts(_ path: String) -> [Int64]? {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            return [
                Int64(status.st_size), Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec),
                Int64(bitPattern: UInt64(status.st_ino)),
            ]
        }
    }
}

/// The committed frames of a write-ahead log, in SQLite's format.
private struct WriteAheadFrames {
    private let bytes: [UInt8]
    private let pageSize: Int
    private let isBigEndian: Bool
    /// The offsets of the committed frames, and the number of pages after the last commit.
    private var frames: [Int] = []
    private var pages = 0

    /// Checks the log; nil if its header is not valid.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        guard bytes.count >= 32 else { return nil }
        let magic = Self.number(bytes, 0)
        guard magic == 0x377F_0682 || magic == 0x377F_0683 else { return nil }
        isBigEndian = magic & 1 == 1
        pageSize = Int(Self.number(bytes, 8))
        guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else { return nil }
        var sum: (UInt32, UInt32) = (0, 0)
        add(0..<24, to: &sum)
        guard sum == (Self.number(bytes, 24), Self.number(bytes, 28)) else { return nil }
        var pending: [Int] = []
        var offset = 32
        while offset + 24 + pageSize <= bytes.count {
            guard bytes[(offset + 8)..<(offset + 16)] == bytes[16..<24] else { break }
            add(offset..<(offset + 8), to: &sum)
            add((offset + 24)..<(offset + 24 + pageSize), to: &sum)
            guard sum == (Self.number(bytes, offset + 16), Self.number(bytes, offset + 20)) else { break }
            pending.append(offset)
            let size = Int(Self.number(bytes, offset + 4))
            if size > 0 {
                frames += pending
                pending = []
                pages = size
            }
            offset += 24 + pageSize
        }
    }

    /// Writes the pages in the frames into a database, up to a maximum size.
    func apply(to database: inout [UInt8], limit: Int) {
        guard !frames.isEmpty else { return }
        let size = min(pages * pageSize, limit / pageSize * pageSize)
        if database.count < size { database += [UInt8](repeating: 0, count: size - database.count) }
        if database.count > size { database.removeLast(database.count - size) }
        for frame in frames {
            let page = Int(Self.number(bytes, frame))
            guard page > 0, page * pageSize <= size else { continue }
            let target = (page - 1) * pageSize
            database.replaceSubrange(
                target..<(target + pageSize), with: bytes[(frame + 24)..<(frame + 24 + pageSize)])
        }
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
        bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
    }

    private func add(_ range: Range<Int>, to sum: inout (UInt32, UInt32)) {
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
            var (first, second) = (Self.number(bytes, offset), Self.number(bytes, offset + 4))
            if !isBigEndian { (first, second) = (first.byteSwapped, second.byteSwapped) }
            sum.0 = sum.0 &+ first &+ sum.1
            sum.1 = sum.1 &+ second &+ sum.0
        }
    }
}
