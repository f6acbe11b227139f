// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import Glibc
import SystemSupport

/// The files of a store by name, and what is done to them as files.
package struct StoreFolder: Sendable {
    /// The folder, absolute or not, without a slash at the end.
    let path: String

    /// The files of a store in a folder.
    package init(path: String) { self.path = path }

    var database: String { path + "/index.sqlite" }
    var log: String { path + "/journal" }
    /// The database that is being made to replace a damaged one.
    var replacement: String { database + ".new" }
    /// The last database that was replaced with losses.
    var setAside: String { path + "/" + setAsideName }
    /// The file name of ``setAside``.
    var setAsideName: String { "index.sqlite.damaged" }
    /// Says that damage was met, so that everything is checked at the next opening. A file, since the database may not be
    /// able to say it, and since a reader that meets the damage has no database to write to.
    private var mark: String { path + "/suspect" }

    /// Looks at all files that SQLite and the log may have here, so that none is opened that waits without end, as a named
    /// pipe, or leads out of the folder. Missing ones are right.
    package func check() throws(UntrustedFile) {
        for name in Self.fileNames { try OwnFile.check(path + "/" + name) }
        guard try OwnFile.check(log, .folder) else { return }
        // What cannot be listed, opening the log will say.
        for name in (try? logFileNames()) ?? [] where Self.isOfLog(name) { try OwnFile.check(log + "/" + name) }
    }

    /// The names of these files, but for the log's.
    package static let fileNames =
        ["index.sqlite", "index.sqlite.new", "index.sqlite.damaged"]
        .flatMap { name in (databaseSuffixes + ["-journal"]).map { name + $0 } } + ["suspect", learningOff]

    private static func isOfLog(_ name: String) -> Bool {
        [LogFileNames.segmentSuffix, LogFileNames.unfinishedSuffix].contains { name.hasSuffix($0) }
            || name.hasPrefix(LogFileNames.head)
    }

    private static let databaseSuffixes = ["", "-wal", "-shm"]

    /// Whether there is no store here yet.
    ///
    /// An empty database is what is left when the program ends right after making it; beside a log, or a list of jobs
    /// that was written down, it is what is left of a store.
    func isNew(generation: Int?) throws(LogError) -> Bool {
        guard size(database) ?? 0 == 0, size(database + "-wal") ?? 0 == 0, generation == nil else { return false }
        return try logFileNames().isEmpty
    }

    /// The smallest page. SQLite takes what is shorter for an empty database, and would fill it.
    private static let smallestDatabase = 512

    /// Whether there is no database, or nothing that could be one.
    var lacksDatabase: Bool { size(database) ?? 0 < Self.smallestDatabase }

    /// The names of the log's files; none if there is no such folder.
    func logFileNames() throws(LogError) -> [String] {
        do {
            return try SystemLogFiles().names(in: log)
        } catch {
            if error.isNotFound { return [] }
            throw .file(error)
        }
    }

    /// Whose log this is, from the newest segment that can say it.
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

    /// Makes an empty file that only its owner can read, whatever the folder's mode; SQLite gives its other files the
    /// same. An existing file is not even opened: closing it would drop the locks that this process has on it.
    static func createFile(_ path: String) {
        let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        // Why it could not be made, SQLite will say.
        if number >= 0 { close(number) }
    }

    // MARK: The mark

    /// Whether damage was met since everything was checked the last time.
    var isSuspect: Bool { access(mark, F_OK) == 0 }

    /// Notes that damage was met. Where the folder cannot be written, whoever meets it next will try again.
    func suspect() { Self.createFile(mark) }

    /// Notes that everything was checked.
    func trust() { unlink(mark) }

    // MARK: Learning

    private static let learningOff = "learning-off"

    /// Whether the user does not want use to be counted. A file, so that the wish outlives a database that is lost.
    var isLearningOff: Bool { access(path + "/" + Self.learningOff, F_OK) == 0 }

    /// Notes whether use is counted.
    ///
    /// - Throws: ``SearchIndexError/readOnly(path:operation:)`` or another that says why it cannot be written down.
    func setLearning(_ isOn: Bool) throws(SearchIndexError) {
        let path = path + "/" + Self.learningOff
        if isOn { unlink(path) } else { Self.createFile(path) }
        // The wish is durable when this returns.
        try? SystemLogFiles().synchronizeFolder(self.path)
        guard isLearningOff == isOn else { return }
        throw .readOnly(path: self.path, operation: "Noting whether use is counted")
    }

    // MARK: Replacing the database

    /// Removes a replacement that was never finished.
    func removeReplacement() {
        for suffix in Self.databaseSuffixes + ["-journal"] { unlink(replacement + suffix) }
    }

    /// Puts the replacement, which is whole and closed, in the place of the database.
    ///
    /// A crash in between leaves the damaged database or the new one, and the mark, so that it is done again. The old log
    /// goes first: beside the new database it would be taken for its own.
    ///
    /// - Parameter keeping: Whether the old database is kept under ``setAside``, in place of an older one.
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

    /// The length of a file, in bytes; `nil` if there is none.
    func size(_ path: String) -> Int? {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : nil
    }
}
