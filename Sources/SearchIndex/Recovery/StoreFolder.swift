// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import Glibc
import SystemSupport

/// The paths of a store's files, and the operations on them.
package struct StoreFolder: Sendable {
    /// The path of the folder, absolute or relative, without a trailing slash.
    let path: String

    /// Represents the store in a folder, which need not exist.
    package init(path: String) { self.path = path }

    var database: String { path + "/index.sqlite" }
    var log: String { path + "/journal" }
    /// The database that is created to replace a damaged one.
    var replacement: String { database + ".new" }
    /// The most recently replaced database, kept if its replacement lost data.
    var setAside: String { path + "/" + setAsideName }
    /// The file name of ``setAside``.
    var setAsideName: String { "index.sqlite.damaged" }
    /// The mark that requests a full check the next time the store is opened. It is a file, because
    /// a damaged database may be unable to store it, and a read-only connection cannot write to the
    /// database.
    private var mark: String { path + "/suspect" }

    /// Checks all files that SQLite and the log may have in this folder. A named pipe would block
    /// indefinitely, and a symbolic link could lead out of the folder. Missing files are valid.
    package func check() throws(UntrustedFile) {
        for name in Self.fileNames { try OwnFile.check(path + "/" + name) }
        guard try OwnFile.check(log, .folder) else { return }
        // If the folder cannot be listed, opening the log reports the error.
        for name in (try? logFileNames()) ?? [] where Self.isOfLog(name) { try OwnFile.check(log + "/" + name) }
    }

    /// The names of the checked files, except for the log's files.
    package static let fileNames =
        ["index.sqlite", "index.sqlite.new", "index.sqlite.damaged"]
        .flatMap { name in (databaseSuffixes + ["-journal"]).map { name + $0 } } + [
            "suspect", learningOff, refusalName,
        ]

    private static func isOfLog(_ name: String) -> Bool {
        [LogFileNames.segmentSuffix, LogFileNames.unfinishedSuffix].contains { name.hasSuffix($0) }
            || name.hasPrefix(LogFileNames.head)
    }

    private static let databaseSuffixes = ["", "-wal", "-shm"]

    /// Returns `true` if there is no store in this folder yet.
    ///
    /// An empty database remains if the program exits right after creating it. Together with log
    /// files, or with a generation recorded outside the database, it is the remains of a store.
    func isNew(generation: Int?) throws(LogError) -> Bool {
        guard size(database) ?? 0 == 0, size(database + "-wal") ?? 0 == 0, generation == nil else { return false }
        return try logFileNames().isEmpty
    }

    /// The smallest page size. SQLite treats a shorter file as an empty database and would fill it.
    private static let smallestDatabase = 512

    /// `true` if the database file is missing or too short.
    var lacksDatabase: Bool { size(database) ?? 0 < Self.smallestDatabase }

    /// Returns the names of the log's files; none if the folder does not exist.
    func logFileNames() throws(LogError) -> [String] {
        do {
            return try SystemLogFiles().names(in: log)
        } catch {
            if error.isNotFound { return [] }
            throw .file(error)
        }
    }

    /// Returns the store identifier of the log, from the newest readable segment.
    func logIdentifier() throws(LogError) -> StoreIdentifier? {
        let files = SystemLogFiles()
        for name in try logFileNames().filter({ LogFileNames.first(of: $0) != nil }).sorted().reversed() {
            guard let file = try? files.open(log + "/" + name, for: .read),
                let bytes = try? file.read(at: 0, count: LogSegmentHeader.byteCount),
                let header = LogSegmentHeader(decoding: bytes)
            else { continue }
            return header.store
        }
        return nil
    }

    /// Creates an empty file with mode 0600, regardless of the folder's mode; SQLite copies the
    /// mode to its other files. Does not open an existing file, because closing it would release
    /// this process's locks on it.
    static func createFile(_ path: String) {
        let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // If the creation fails, SQLite reports the reason.
        if number >= 0 { close(number) }
    }

    // MARK: The mark

    /// `true` if damage was found since the last full check.
    var isSuspect: Bool { access(mark, F_OK) == 0 }

    /// Records that damage was found. If the folder is not writable, the next process that finds
    /// the damage tries again.
    func suspect() { Self.createFile(mark) }

    /// Records that everything was checked.
    func trust() {
        unlink(mark)
        unlink(path + "/" + Self.refusalName)
    }

    // MARK: A refused repair

    private static let refusalName = "repair-refused.json"

    private var databaseState: [RepairRefusal.FileState?] { [database, database + "-wal"].map { .init($0) } }

    /// The refused repair for the database in its current state; `nil` if none was refused.
    ///
    /// - Parameter now: The current time, used to ignore a note that is too old; `nil` to accept
    ///   any note.
    func refusal(now: Double? = nil) -> RepairRefusal? {
        RepairRefusal(path: path + "/" + Self.refusalName, files: databaseState, now: now)
    }

    /// Records that a repair was refused. The next process that opens the same database does not
    /// examine it again.
    func noteRefusal(_ detail: String, _ bundles: [String], now: Double) {
        RepairRefusal(detail: detail, bundles: bundles, moment: now, files: databaseState)
            .write(to: path + "/" + Self.refusalName)
    }

    // MARK: Learning

    private static let learningOff = "learning-off"

    /// `true` if the user has turned off the recording of engagement. Stored as a file, so that the
    /// setting survives the loss of a database.
    var isLearningOff: Bool { access(path + "/" + Self.learningOff, F_OK) == 0 }

    /// Stores whether engagement is recorded.
    ///
    /// - Throws: ``SearchIndexError/readOnly(path:operation:)`` if the setting cannot be stored.
    func setLearning(_ isOn: Bool) throws(SearchIndexError) {
        let path = path + "/" + Self.learningOff
        if isOn { unlink(path) } else { Self.createFile(path) }
        // Makes the setting durable before returning.
        try? SystemLogFiles().synchronizeFolder(self.path)
        guard isLearningOff == isOn else { return }
        throw .readOnly(path: self.path, operation: "Switching the counts of use on or off")
    }

    // MARK: Replacing the database

    /// Removes an unfinished replacement.
    func removeReplacement() {
        for suffix in Self.databaseSuffixes + ["-journal"] { unlink(replacement + suffix) }
    }

    /// Replaces the database with the complete and closed replacement.
    ///
    /// After a crash, the folder contains one of the two databases and still has the mark, so the
    /// next opening repeats the work. The old WAL is deleted first, because SQLite would apply it
    /// to the new database.
    ///
    /// - Parameter keeping: `true` to keep the old database as ``setAside``, replacing an older
    ///   one.
    func replaceDatabase(keeping: Bool) throws(LogError) {
        let files = SystemLogFiles()
        do {
            try files.open(replacement, for: .update).synchronize()
            if keeping, size(database) ?? 0 > 0 {
                for suffix in Self.databaseSuffixes { unlink(setAside + suffix) }
                for suffix in ["", "-wal"] { link(database + suffix, setAside + suffix) }
            }
            for suffix in ["-wal", "-shm", "-journal"] { unlink(database + suffix) }
            try files.synchronizeFolder(path)
            try files.rename(replacement, to: database)
            try files.synchronizeFolder(path)
        } catch {
            throw .file(error)
        }
    }

    /// Returns the length of a file in bytes; `nil` if it does not exist.
    func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
