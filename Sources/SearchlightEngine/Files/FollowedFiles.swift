// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileWatching
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The files that are followed for extensions, in a database in the store (``FileSnapshot``), and
/// the changes that have not been reported yet. May be used from any thread.
final class FollowedFiles: Sendable {
    /// The changes that have not been reported to an extension yet.
    struct Pending: Hashable, Sendable {
        var changes: PendingChanges
        /// The time of the first change, in seconds since 2001-01-01 UTC.
        var since: Double
        /// The number of the last change in the bulk; 0 if there is no bulk. A bulk is a set of
        /// changes that is too numerous or too large to report immediately.
        var bulkEnd: Int64
        /// `true` if there are changes after the bulk that are few and small enough to report
        /// immediately.
        var isRecent: Bool
    }
    private let directory: String
    private var path: String { directory + "/" + Self.fileName }
    private let opened = Mutex<FileSnapshot?>(nil)
    private let found = Mutex<[String: Pending]>([:])
    /// The queue that reads and writes the database, which may block on the disk.
    private let queue = DispatchQueue(label: "files", qos: .utility)

    /// The name of the file in the store's folder.
    static let fileName = "files.sqlite"
    /// The names of the database and of the files that SQLite adds to it.
    static let databaseNames = ["", "-wal", "-shm", "-journal"].map { fileName + $0 }

    init(storeDirectory: String) { directory = storeDirectory }

    /// The unreported changes by extension, as of the last ``refresh(now:isSmall:)``.
    var pending: [String: Pending] { found.withLock { $0 } }

    /// The snapshot. The first call opens it. Blocks.
    func snapshot() throws(EngineError) -> FileSnapshot {
        let result = opened.withLock { opened in
            Result { () throws(FileWatchingError) in
                if let opened { return opened }
                for name in Self.databaseNames {
                    let file = directory + "/" + name
                    do throws(UntrustedFile) { try OwnFile.check(file) } catch {
                        throw .snapshot(path: file, reason: error.reason)
                    }
                }
                let snapshot = try FileSnapshot(path: path)
                opened = snapshot
                return snapshot
            }
        }
        do throws(FileWatchingError) { return try result.get() } catch { throw failure(error) }
    }

    /// Reads or writes the snapshot, one call at a time.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (FileSnapshot) throws(FileWatchingError) -> Value
    ) async throws(EngineError) -> Value {
        try await run(on: queue, body)
    }

    /// Reads files or compares them with the snapshot. A file system may never respond, so this
    /// does not run on the queue of ``use(_:)``.
    func compare<Value: Sendable>(
        _ body: @escaping @Sendable (FileSnapshot) throws(FileWatchingError) -> Value
    ) async throws(EngineError) -> Value {
        try await run(on: .global(qos: .utility), body)
    }

    private func run<Value: Sendable>(
        on queue: DispatchQueue, _ body: @escaping @Sendable (FileSnapshot) throws(FileWatchingError) -> Value
    ) async throws(EngineError) -> Value {
        try await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, EngineError>, Never>) in
            queue.async { [self] in
                continuation.resume(
                    returning: Result { () throws(EngineError) in
                        let snapshot = try snapshot()
                        do throws(FileWatchingError) { return try body(snapshot) } catch { throw failure(error) }
                    })
            }
        }.get()
    }

    /// The name of the file whose modification time is the time of the last complete comparison.
    /// The database file is unsuitable, because its time changes with each write.
    static let lookName = "files.looked"

    /// Returns the time of the last complete comparison of all files with the snapshot, in seconds
    /// since 2001-01-01 UTC; `-infinity` if unknown.
    static func lastLook(storeDirectory: String) -> Double {
        var status = stat()
        guard stat(storeDirectory + "/" + lookName, &status) == 0 else { return -.infinity }
        return Double(status.st_mtim.tv_sec) - Date.timeIntervalBetween1970AndReferenceDate
    }

    /// Records that the snapshot now matches all files.
    func noteLook() {
        let place = directory + "/" + Self.lookName
        guard let file = try? OwnFile.open(place, O_WRONLY | O_CREAT) else { return }
        _ = futimens(file.number, nil)
    }

    /// Reads the unreported changes of each extension.
    ///
    /// - Parameters:
    ///   - now: The current time, in seconds since 2001-01-01 UTC.
    ///   - isSmall: Returns `true` if changes are few and small enough to report immediately.
    func refresh(now: Double, isSmall: @escaping @Sendable (PendingChanges) -> Bool) async throws(EngineError) {
        let ends = found.withLock { $0.mapValues(\.bulkEnd) }
        let pending = try await use { (snapshot) throws(FileWatchingError) in
            var found: [String: Pending] = [:]
            for (owner, all) in try snapshot.pending() {
                var pending = Pending(changes: all, since: now, bulkEnd: 0, isRecent: true)
                if !isSmall(all) {
                    pending.bulkEnd = ends[owner] ?? 0
                    let recent =
                        pending.bulkEnd > 0
                        ? try snapshot.pending(after: pending.bulkEnd)[owner] ?? PendingChanges() : all
                    pending.isRecent = recent.count > 0 && isSmall(recent)
                    if !isSmall(recent) { pending.bulkEnd = all.last }
                }
                found[owner] = pending
            }
            return found
        }
        found.withLock { found in
            let before = found
            found = pending
            for (owner, pending) in before { found[owner]?.since = min(pending.since, now) }
        }
    }

    /// Returns `true` if no file exists at a path. Blocks.
    static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    private func failure(_ error: FileWatchingError) -> EngineError {
        .storeFile(path: path, operation: "Watching files of", detail: error.description)
    }
}
