// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog
import Foundation
import GRDB
import Glibc

/// Checks all files of a store in their current state, without upgrading, applying or repairing
/// anything.
///
/// No other process may change the store during the check. This process may change it through a
/// ``SearchIndex`` (``SearchIndex/verify(progress:)``).
public struct StoreVerifier: Sendable {
    private let folder: StoreFolder
    /// The open store to check while in use; `nil` for a store that is not open for writing.
    private let live: LiveStore?

    /// Creates a verifier for the store in a folder.
    public init(directory: String) { self.init(directory: directory, live: nil) }

    init(directory: String, live: LiveStore?) { (folder, self.live) = (StoreFolder(path: directory), live) }

    /// Checks everything. Blocks; the time is linear in the size of the store.
    ///
    /// - Parameter progress: Called periodically with the number of items examined.
    /// - Throws: ``SearchIndexError`` if there is no store, or if it has a later version or cannot
    ///   be read.
    public func verify(progress: (Int) -> Void = { _ in }) throws(SearchIndexError) -> VerificationReport {
        do {
            return try check(progress)
        } catch let error as LogError {
            throw SearchIndexError(error, path: folder.path, operation: "Checking the write-ahead log")
        } catch {
            throw SearchIndexError(error, path: folder.path, operation: "Checking the store")
        }
    }

    /// Requests a full check and repair when the store is next opened for writing.
    public func requestRepair() { folder.suspect() }

    /// Revokes other users' permissions on the store's files.
    ///
    /// - Returns: The changes, one sentence each.
    public func restrictModes() -> [String] {
        var report = VerificationReport()
        checkModes(&report)
        return report.findings.filter { $0.repair == .restrictMode }.map { finding in
            var status = stat()
            let path = folder.path + "/" + finding.part
            guard lstat(path, &status) == 0, chmod(path, status.st_mode & 0o700) == 0 else {
                return "The mode of \(finding.part) could not be changed: \(String(cString: strerror(errno)))."
            }
            return "The access of others to \(finding.part) was removed."
        }
    }

    private func check(_ progress: (Int) -> Void) throws -> VerificationReport {
        guard try !folder.isNew(generation: nil) else { throw SearchIndexError.noStore(path: folder.path) }
        var report = VerificationReport()
        checkModes(&report)
        if folder.isSuspect {
            report.notes.append(
                "Damage was found during use. The next command that writes the store checks and repairs it.")
        }
        let known = try checkDatabase(&report, progress)
        try checkLog(&report, known?.row, known?.early ?? EarlyEntries())
        return report
    }

    private func checkModes(_ report: inout VerificationReport) {
        let log = (try? folder.logFileNames())?.sorted().map { "journal/" + $0 } ?? []
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? []
        var count = 0
        for name in [""] + names + log {
            var status = stat()
            guard lstat(folder.path + "/" + name, &status) == 0 else { continue }
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            // The service creates this socket; it contains no data.
            let isSocket = name == "socket" && status.st_mode & S_IFMT == S_IFSOCK
            // These files exist while the database is open.
            let isTemporary = ["-wal", "-shm"].contains { name.hasSuffix($0) }
            if !isSocket && !isTemporary { count += 1 }
            guard isFolder || isSocket || status.st_mode & S_IFMT == S_IFREG else {
                report.add(name, "it is not a file", .none)
                continue
            }
            // Another program may have created the store's folder; the files in it are private
            // regardless.
            if name != "", status.st_mode & 0o077 != 0 {
                let mode = String(status.st_mode & 0o777, radix: 8)
                report.add(name, "others have access to it (mode \(mode))", .restrictMode)
            }
        }
        report.checks.append(.init(what: "files and their modes", count: count))
    }

    private func checkDatabase(_ report: inout VerificationReport, _ progress: (Int) -> Void) throws -> (
        row: StoreRow, early: EarlyEntries
    )? {
        guard !folder.lacksDatabase else {
            report.add("database", "it is missing or empty", .salvage)
            return nil
        }
        let isReadOnly = access(folder.database, W_OK) != 0 || access(folder.path, W_OK) != 0
        do {
            let queue =
                try live?.copy(folder)
                ?? DatabaseQueue(
                    path: folder.database, configuration: SearchIndex.configuration(isReadOnly: isReadOnly))
            defer { if live != nil { folder.removeReplacement() } }
            return try queue.inDatabase { db in
                live?.interruptWhenCancelled(db)
                try Schema.refuseNewer(db, path: folder.path)
                guard try Schema.canBeRead(db) else {
                    report.notes.append(
                        "The database has an older format. The next command that writes it upgrades it.")
                    report.checks.append(.init(what: "database", skipped: "it has an older format"))
                    return nil
                }
                DatabaseExamination(db, isReadOnly: isReadOnly, progress: progress).report(into: &report)
                guard let row = try? StoreRow(db) else { return nil }
                return (row, (try? EarlyEntries(db, after: row.applied)) ?? EarlyEntries())
            }
        } catch {
            let named = SearchIndexError(error, path: folder.path, operation: "Opening the index")
            guard case .damaged(_, let detail) = named else { throw named }
            report.add("database", detail, .salvage)
            return nil
        }
    }

    private func checkLog(_ report: inout VerificationReport, _ row: StoreRow?, _ early: EarlyEntries) throws {
        guard let store = try row?.identifier ?? folder.logIdentifier() else {
            report.checks.append(.init(what: "write-ahead log", skipped: "none belongs to this database"))
            return
        }
        let applied = row?.applied ?? 0
        guard FileManager.default.fileExists(atPath: folder.log) else {
            report.add("write-ahead log", "its folder is missing", .discardJournal)
            return
        }
        let (findings, last) = try examineJournal(store, applied: applied, acknowledged: early.last)
        let segments = try folder.logFileNames().count { LogFileNames.first(of: $0) != nil }
        report.checks.append(.init(what: "files of the write-ahead log", count: segments))
        for finding in findings {
            switch finding {
            case .tornTail: report.notes.append("journal/" + finding.description)
            // If the database is missing, entries that were applied long ago appear to be lost.
            case .damaged where row == nil: break
            case .damaged(_, _, _, .misnamed): report.add("journal", finding.description, .none)
            case .damaged: report.add("journal", finding.description, .discardJournal)
            }
        }
        if row != nil, last - applied > early.count {
            report.notes.append(
                "\(last - applied - UInt64(early.count)) entries of the write-ahead log are not applied yet.")
        }
    }

    /// Reads the log. If a log in use appears to be damaged, rereads it while writes are blocked,
    /// because a listed file may have been removed before it was read.
    private func examineJournal(
        _ store: StoreIdentifier, applied: UInt64, acknowledged: UInt64
    ) throws(LogError) -> (findings: [LogFinding], last: UInt64) {
        do throws(LogError) {
            let result = try WriteAheadLog.examine(
                folder: folder.log, store: store, applied: applied, acknowledged: acknowledged, isThorough: true)
            if live == nil || result.findings.isEmpty { return result }
        } catch {
            if live == nil { throw error }
        }
        return try live?.log.examineNow() ?? ([], acknowledged)
    }
}
