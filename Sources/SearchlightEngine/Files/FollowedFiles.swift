// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileWatching
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The files that are followed for extensions, kept in a file of the store (``FileSnapshot``), and what each extension has not been
/// told of. May be used from any thread.
final class FollowedFiles: Sendable {
    /// What an extension has not been told of.
    struct Pending: Hashable, Sendable {
        var changes: PendingChanges
        /// Since when, in seconds since 2001-01-01 UTC.
        var since: Double
        /// The number of the last change of those that are too many, or too large, to be told at once; 0 if none is.
        var bulkEnd: Int64
        /// Whether there are others, few and small enough.
        var isRecent: Bool
    }
    private let directory: String
    private var path: String { directory + "/" + Self.fileName }
    private let opened = Mutex<FileSnapshot?>(nil)
    private let found = Mutex<[String: Pending]>([:])
    /// Where the file is read and written, which may wait for the disk.
    private let queue = DispatchQueue(label: "files", qos: .utility)

    /// The name of the file in the folder of a store.
    static let fileName = "files.sqlite"

    init(storeDirectory: String) { directory = storeDirectory }

    /// What each extension has not been told of, as far as ``refresh(now:isSmall:)`` has read it.
    var pending: [String: Pending] { found.withLock { $0 } }

    /// The snapshot, made when it is first asked for. Blocks.
    func snapshot() throws(EngineError) -> FileSnapshot {
        let result = opened.withLock { opened in
            Result { () throws(FileWatchingError) in
                if let opened { return opened }
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

    /// Looks at files, or compares them with the snapshot. That waits for their file systems, one of which may never answer, so
    /// that no call of ``use(_:)`` waits for it.
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

    /// The name of the file whose time says when all files were last known to be as they are noted. The snapshot's own file has
    /// the time of its last write, for whatever reason.
    static let lookName = "files.looked"

    /// When all files were last known to be as they are noted, in seconds since 2001-01-01 UTC; `-infinity` if that is not known.
    static func lastLook(storeDirectory: String) -> Double {
        var status = stat()
        guard stat(storeDirectory + "/" + lookName, &status) == 0 else { return -.infinity }
        return Double(status.st_mtim.tv_sec) - Date.timeIntervalBetween1970AndReferenceDate
    }

    /// Notes that all files are known to be as they are noted.
    func noteLook() {
        let place = directory + "/" + Self.lookName
        guard let file = try? OwnFile.open(place, O_WRONLY | O_CREAT) else { return }
        _ = futimens(file.number, nil)
    }

    /// Reads what each extension has not been told of.
    ///
    /// - Parameters:
    ///   - now: The present, in seconds since 2001-01-01 UTC.
    ///   - isSmall: Whether changes are few and small enough to be told at once.
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

    /// Whether there is nothing at a path. Blocks.
    static func isMissing(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
    }

    private func failure(_ error: FileWatchingError) -> EngineError {
        .storeFile(path: path, operation: "Following files in", detail: error.description)
    }
}
