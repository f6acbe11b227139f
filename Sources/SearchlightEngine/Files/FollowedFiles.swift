// SPDX-License-Identifier: Apache-2.0
import Dispatch
import FileWatching
import Foundation
import Glibc
import Synchronization

/// The files that are followed for extensions, kept in a file of the store (``FileSnapshot``), and what each extension has not been
/// told of. May be used from any thread.
final class FollowedFiles: Sendable {
    /// What an extension has not been told of.
    struct Pending: Hashable, Sendable {
        var changes: PendingChanges
        /// Since when, in seconds since 2001-01-01 UTC.
        var since: Double
    }
    private let path: String
    private let opened = Mutex<FileSnapshot?>(nil)
    private let found = Mutex<[String: Pending]>([:])
    /// Where the file is read and written: that may wait for the disk, and for a comparison of folders.
    private let queue = DispatchQueue(label: "files", qos: .utility)

    /// The name of the file in the folder of a store.
    static let fileName = "files.sqlite"

    init(storeDirectory: String) { path = storeDirectory + "/" + Self.fileName }

    /// What each extension has not been told of, as far as ``refresh(now:)`` has read it.
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

    /// Does something with the snapshot, and nothing else with it meanwhile.
    func use<Value: Sendable>(
        _ body: @escaping @Sendable (FileSnapshot) throws(FileWatchingError) -> Value
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

    /// When all files were last known to be as they are noted, in seconds since 2001-01-01 UTC; `-infinity` if that is not known.
    static func lastLook(storeDirectory: String) -> Double {
        var status = stat()
        guard stat(storeDirectory + "/" + fileName, &status) == 0 else { return -.infinity }
        return Double(status.st_mtim.tv_sec) - Date.timeIntervalBetween1970AndReferenceDate
    }

    /// Notes that all files are known to be as they are noted: the time of the file says when.
    func noteLook() { _ = utimensat(AT_FDCWD, path, nil, 0) }

    /// Reads what each extension has not been told of.
    ///
    /// - Parameter now: The present, in seconds since 2001-01-01 UTC.
    func refresh(now: Double) async throws(EngineError) {
        let pending = try await use { (snapshot) throws(FileWatchingError) in try snapshot.pending() }
        found.withLock { found in
            let before = found
            found = pending.mapValues { Pending(changes: $0, since: now) }
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
