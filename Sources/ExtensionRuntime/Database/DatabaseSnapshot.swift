// SPDX-License-Identifier: Apache-2.0
import CFiles
import DatabaseBindings
import Glibc
import ServiceMessages
import SystemSupport

/// A private copy of a database in a single committed state.
///
/// Making the copy takes no lock, writes nothing next to the app's database, and does not need the
/// index of the log (`-shm`). So the app is never blocked, and the database of an app that locks it
/// exclusively, as browsers do, can still be read. First the database is copied, then the committed
/// frames of its log are written over the copy. If the files' state has changed so that the copy
/// may mix two states, it is made again.
struct DatabaseSnapshot {
    /// The path of the copy. Its name is removed once it is opened.
    let path: String
    let stamp: DatabaseStamp

    /// The maximum sizes of a database and a log that are copied, in bytes. The log is read into
    /// memory.
    static let maximumBytes = 2 << 30
    static let maximumLogBytes = 96 << 20
    /// The space that must stay free on the disk with the copies, in bytes.
    private static let spareBytes: UInt64 = 256 << 20
    private static let attempts = 8
    private static let chunk = 8 << 20
    private static let magic = Array("SQLite format 3\0".utf8)

    /// Makes a copy of a database.
    ///
    /// - Parameters:
    ///   - path: The app's database, with links resolved (``location(of:)``), since SQLite keeps
    ///     the log next to the file that a link points to.
    ///   - goesOn: Called between chunks; `false` stops the work.
    ///   - pause: Waits for a number of milliseconds.
    /// - Throws: ``BindingFailure``, which names the file and the problem.
    init(
        of path: String, goesOn: () -> Bool, pause: (UInt32) -> Void = { usleep($0 * 1000) }
    ) throws(BindingFailure) {
        let (copy, name) = try Self.temporaryFile()
        var delay: UInt32 = 10
        do throws(BindingFailure) {
            for _ in 0..<Self.attempts {
                if let stamp = try Self.copy(path, to: copy, goesOn: goesOn, pause: pause) {
                    try Self.check(copy, path)
                    (self.path, self.stamp) = (name, stamp)
                    return
                }
                guard goesOn() else { throw BindingFailure(.cancelled, "the request was cancelled") }
                pause(delay)
                delay *= 2
            }
            let hasJournal = DatabaseStamp(of: path)?.hasJournal == true
            throw BindingFailure(
                .unavailable,
                hasJournal
                    ? "\(path) has a transaction that is not finished (its -journal); it is read after the app has finished it"
                    : "\(path) is written without a pause; it is read after that")
        } catch {
            unlink(name)
            throw error
        }
    }

    /// Returns the path of a database with all links resolved; the path itself if that fails.
    static func location(of path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static var folder: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// `true` unless the disk with the copies is nearly full.
    static var hasRoom: Bool {
        var space = statvfs()
        return statvfs(folder, &space) != 0 || UInt64(space.f_bavail) * UInt64(space.f_frsize) >= spareBytes
    }

    private static func temporaryFile() throws(BindingFailure) -> (OwnedDescriptor, String) {
        let folder = folder
        var template = Array((folder + "/database-XXXXXX").utf8CString)
        let number = template.withUnsafeMutableBufferPointer { $0.baseAddress.map { mkstemp($0) } ?? -1 }
        guard number >= 0 else {
            throw BindingFailure(.failed, "a file in \(folder) could not be made: \(String(cString: strerror(errno)))")
        }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        let name = template.dropLast().map { UInt8(bitPattern: $0) }
        return (OwnedDescriptor(adopting: number), String(decoding: name, as: UTF8.self))
    }

    /// Makes one attempt to copy. Returns the state, or `nil` if the app wrote during the copy.
    private static func copy(
        _ path: String, to copy: OwnedDescriptor, goesOn: () -> Bool, pause: (UInt32) -> Void
    ) throws(BindingFailure) -> DatabaseStamp? {
        let original = try opened(path)
        guard let before = DatabaseStamp(of: path), !before.hasJournal else { return nil }
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if before.isRecent(at: now) {
            pause(20)
            guard DatabaseStamp(of: path) == before else { return nil }
        }
        try checkSize(before, path, copy)
        guard ftruncate(copy.number, 0) == 0 else { throw failure(path, errno) }
        try copyBytes(original, copy, path, goesOn)
        if before.hasLog {
            guard let log = try Self.log(path) else { return nil }
            try apply(log, to: copy, path, goesOn)
        }
        guard let after = DatabaseStamp(of: path), before.isSameState(as: after) else { return nil }
        return before
    }

    private static func opened(_ path: String) throws(BindingFailure) -> OwnedDescriptor {
        let irregular = BindingFailure(.unsupported, "\(path) is not a regular file")
        // A pipe or a device is not opened, since opening it may have side effects.
        var found = stat()
        guard stat(path, &found) != 0 || found.st_mode & S_IFMT == S_IFREG else { throw irregular }
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            throw BindingFailure(
                code == ENOENT || code == ENOTDIR ? .notFound : .unavailable,
                "\(path) cannot be opened: \(String(cString: strerror(code)))")
        }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw irregular
        }
        return file
    }

    private static func failure(_ path: String, _ code: Int32) -> BindingFailure {
        BindingFailure(.unavailable, "\(path) cannot be copied: \(String(cString: strerror(code)))")
    }

    private static func checkSize(
        _ stamp: DatabaseStamp, _ path: String, _ copy: OwnedDescriptor
    ) throws(BindingFailure) {
        guard stamp.size <= maximumBytes, stamp.logSize <= maximumLogBytes else {
            throw BindingFailure(
                .tooLarge,
                """
                \(path) has \(stamp.size >> 20) MiB and its log \(stamp.logSize >> 20); the limits are \
                \(maximumBytes >> 20) and \(maximumLogBytes >> 20)
                """)
        }
        var space = statvfs()
        guard fstatvfs(copy.number, &space) == 0 else { return }
        let free = UInt64(space.f_bavail) * UInt64(space.f_frsize)
        guard free >= UInt64(stamp.size + stamp.logSize) + spareBytes else {
            throw BindingFailure(
                .unavailable,
                "there is not enough space for a copy of \(path), which has \(stamp.size >> 20) MiB: \(free >> 20) MiB are free"
            )
        }
    }

    private static func copyBytes(
        _ original: OwnedDescriptor, _ copy: OwnedDescriptor, _ path: String, _ goesOn: () -> Bool
    ) throws(BindingFailure) {
        guard goesOn() else { throw BindingFailure(.cancelled, "the request was cancelled") }
        if cfiles_clone(copy.number, original.number) == 0 { return }
        var (offset, isInKernel) = (Int64(0), true)
        while true {
            guard goesOn() else { throw BindingFailure(.cancelled, "the request was cancelled") }
            if isInKernel {
                let count = cfiles_copy_range(original.number, offset, copy.number, offset, UInt64(chunk))
                if count > 0 {
                    offset += count
                } else if count == 0, offset > 0 {
                    return
                } else {
                    // Some file systems do not support copying in the kernel, or report an empty
                    // file.
                    isInKernel = false
                }
            } else {
                let bytes: [UInt8]
                do throws(ErrnoCode) {
                    bytes = try WholeTransfer.bytes(of: original.number, upTo: chunk, at: Int(offset))
                } catch { throw failure(path, error.code) }
                if bytes.isEmpty { return }
                let written = bytes.withUnsafeBytes { WholeTransfer.write($0, to: copy.number, at: Int(offset)) }
                if case .failure(let error) = written { throw failure(path, error.code) }
                offset += Int64(bytes.count)
            }
            guard offset <= Int64(maximumBytes) + Int64(chunk) else {
                throw BindingFailure(.tooLarge, "\(path) grew beyond \(maximumBytes >> 20) MiB while it was copied")
            }
        }
    }

    // MARK: The log

    private static func log(_ path: String) throws(BindingFailure) -> [UInt8]? {
        let number = open(path + "-wal", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            if code == ENOENT { return nil }
            throw failure(path + "-wal", code)
        }
        let file = OwnedDescriptor(adopting: number)
        do throws(ErrnoCode) {
            return try WholeTransfer.bytes(of: file.number, upTo: maximumLogBytes + 1, at: 0)
        } catch { throw failure(path + "-wal", error.code) }
    }

    /// Writes a log's committed frames over a copy of its database. Frames after the last commit
    /// were never committed, or belong to an earlier round of the log.
    private static func apply(
        _ bytes: [UInt8], to copy: OwnedDescriptor, _ path: String, _ goesOn: () -> Bool
    ) throws(BindingFailure) {
        guard bytes.count <= maximumLogBytes else {
            throw BindingFailure(.tooLarge, "the log of \(path) grew beyond \(maximumLogBytes >> 20) MiB")
        }
        guard let log = LogFrames(bytes) else { return }
        guard goesOn() else { throw BindingFailure(.cancelled, "the request was cancelled") }
        let size = Int64(log.pageCount) * Int64(log.pageSize)
        guard size <= Int64(maximumBytes) else {
            throw BindingFailure(.tooLarge, "\(path) is larger than \(maximumBytes >> 20) MiB with its log")
        }
        for (page, offset) in log.pages.sorted(by: { $0.key < $1.key }) where page <= log.pageCount {
            let target = Int(page - 1) * log.pageSize
            let written = bytes[offset..<(offset + log.pageSize)].withUnsafeBytes {
                WholeTransfer.write($0, to: copy.number, at: target)
            }
            if case .failure(let error) = written { throw failure(path, error.code) }
        }
        guard ftruncate(copy.number, off_t(size)) == 0 else { throw failure(path, errno) }
    }

    /// Checks that the copy is a database, and marks it as a database without a log.
    private static func check(_ copy: OwnedDescriptor, _ path: String) throws(BindingFailure) {
        let header = (try? WholeTransfer.bytes(of: copy.number, upTo: 100, at: 0)) ?? []
        guard !header.isEmpty else {
            throw BindingFailure(.unavailable, "\(path) is empty: the app has not created its tables yet")
        }
        guard header.count == 100, header.starts(with: magic) else {
            throw BindingFailure(.unsupported, "\(path) is not an SQLite database, or is encrypted")
        }
        // The format versions for writing and reading. With version 2, SQLite would search for a
        // log.
        let versions: [UInt8] = [1, 1]
        let written = versions.withUnsafeBytes { WholeTransfer.write($0, to: copy.number, at: 18) }
        if case .failure(let error) = written { throw failure(path, error.code) }
    }
}

/// The committed frames of a write-ahead log, according to SQLite's published format.
package struct LogFrames {
    package let pageSize: Int
    /// The number of pages in the database after the last commit.
    package let pageCount: UInt32
    /// The offset in the log of each page's last committed content.
    package let pages: [UInt32: Int]

    private static let (header, frameHeader) = (32, 24)

    /// Reads the frames; `nil` if the bytes are not a log or contain no commit.
    package init?(_ bytes: [UInt8]) {
        let result = bytes.withUnsafeBytes { Self.read($0) }
        guard let result else { return nil }
        self = result
    }

    private init(pageSize: Int, pageCount: UInt32, pages: [UInt32: Int]) {
        (self.pageSize, self.pageCount, self.pages) = (pageSize, pageCount, pages)
    }

    private static func read(_ bytes: UnsafeRawBufferPointer) -> LogFrames? {
        guard bytes.count >= header else { return nil }
        func big(_ offset: Int) -> UInt32 {
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        let (magic, pageSize) = (big(0), Int(big(8)))
        guard magic & ~1 == 0x377F_0682, (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
            return nil
        }
        let isBig = magic & 1 == 1
        var sums: (UInt32, UInt32) = (0, 0)
        func add(_ range: Range<Int>) {
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: 8) {
                let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
                let two = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
                sums.0 &+= (isBig ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ sums.1
                sums.1 &+= (isBig ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ sums.0
            }
        }
        add(0..<24)
        guard sums == (big(24), big(28)) else { return nil }
        var (committed, pending): ([UInt32: Int], [UInt32: Int]) = ([:], [:])
        var (pageCount, offset) = (UInt32(0), header)
        while offset + frameHeader + pageSize <= bytes.count {
            let content = offset + frameHeader
            // The frames of the current round have the same salts as the header.
            guard big(offset) != 0, big(offset + 8) == big(16), big(offset + 12) == big(20) else { break }
            add(offset..<(offset + 8))
            add(content..<(content + pageSize))
            guard sums == (big(offset + 16), big(offset + 20)) else { break }
            pending[big(offset)] = content
            if big(offset + 4) != 0 {
                pageCount = big(offset + 4)
                committed.merge(pending) { $1 }
                pending = [:]
            }
            offset = content + pageSize
        }
        return pageCount == 0 ? nil : LogFrames(pageSize: pageSize, pageCount: pageCount, pages: committed)
    }
}
