// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import FileReading
import Synchronization

/// The host's requests to an extension for folders: pages of a reindex, identifiers, and file
/// changes.
///
/// Each request reads the settings and folders again, so requests can run concurrently. The
/// extension's handler forwards its requests to this type.
package final class FolderRequests<File: UnreadFile>: Sendable {
    /// The parts of the environment that tests replace.
    package struct Environment: Sendable {
        /// Called once for each request.
        package var settings: @Sendable () throws -> FolderSettings
        /// Receives one line at a time.
        package var report: @Sendable (String) -> Void = { printToStandardError($0) }
        package var now: @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now }
        package var record: @Sendable () -> ReadingRecord.Storage = { .index() }

        package init(settings: @escaping @Sendable () throws -> FolderSettings) { self.settings = settings }
    }

    /// Returns the item for a file, or throws the reason why it cannot be read.
    package typealias MakeItem = @Sendable (File, ProgressReport) throws(SkipReason) -> FileItem

    /// The number of files after which a page ends while the host throttles the extension.
    package static var throttledCount: Int { 10 }

    package let environment: Environment
    private let noun: String
    private let makeItem: MakeItem
    private let unreadItem: @Sendable (File) -> FileItem
    private let throttled = Mutex(false)

    /// - Parameters:
    ///   - noun: The noun for one file in reports, such as "picture".
    ///   - unread: Returns the item for a file that made an earlier worker crash or be killed while
    ///     it was read.
    ///   - item: Returns the item for a file.
    package init(
        _ environment: Environment, noun: String, unread: @escaping @Sendable (File) -> FileItem,
        item: @escaping MakeItem
    ) {
        self.environment = environment
        self.noun = noun
        unreadItem = unread
        makeItem = item
    }

    /// `true` from the host's throttle notification until its end notification.
    package var isThrottled: Bool {
        get { throttled.withLock { $0 } }
        set { throttled.withLock { $0 = newValue } }
    }

    /// Returns the donor for a request, with the current settings.
    ///
    /// - Parameter record: The record for a reindex. In an update, the host itself determines which
    ///   file makes a worker crash.
    private func donor(to index: CSSearchableIndex, record: ReadingRecord? = nil) throws -> FolderDonor<File> {
        let progress = ProgressReport(print: environment.report, now: environment.now)
        return FolderDonor(to: index, try environment.settings(), noun: noun, progress: progress) {
            [self] (file, progress) throws(SkipReason) in
            guard let record, record.isCareful || !record.skipped.isEmpty else { return try makeItem(file, progress) }
            let fingerprint = file.fingerprint
            if record.isSkipped(fingerprint) { return unreadItem(file) }
            guard record.isCareful else { return try makeItem(file, progress) }
            // Without a record, such a file may make one more worker crash.
            func note(_ change: () throws -> Void) {
                do { try change() } catch { environment.report("\(file.path.onOneLine): \(error)") }
            }
            note { try record.begin(fingerprint) }
            let item = try makeItem(file, progress)
            note { try record.end() }
            return item
        }
    }

    // MARK: Requests

    /// Donates one page of all files. Without an acknowledgement, the host requests the page again
    /// and deletes nothing until then.
    package func reindex(
        _ index: CSSearchableIndex, _ page: CSReindexPage, _ acknowledge: @Sendable (Data?) -> Void
    ) {
        do {
            let record = ReadingRecord(environment.record())
            try record.recover()
            try record.beginPage()
            let deadline = environment.now() + page.maximumDuration
            var count = 0
            // The cursor is the path of the last file. A path is shorter than 4,096 bytes.
            let last = try donor(to: index, record: record).donatePage(
                after: page.cursor.map { String(decoding: $0, as: UTF8.self) }, items: page.maximumItemCount
            ) {
                count += 1
                if page.isCancelled || environment.now() >= deadline { return true }
                return count >= Self.throttledCount && isThrottled
            }
            if last == nil { try record.finish() } else { try record.end() }
            acknowledge(last.map { Data($0.utf8) })
        } catch {
            environment.report("reindexing failed: \(error)")
        }
    }

    /// Donates or deletes the files with these identifiers.
    package func update(_ index: CSSearchableIndex, _ identifiers: [String], _ acknowledge: () -> Void) {
        update(index, identifiers, moves: [], ignoreFiles: [], acknowledge)
    }

    /// Donates, renames or deletes the items of changed files.
    package func update(_ index: CSSearchableIndex, _ changes: [CSFileChange], _ acknowledge: () -> Void) {
        let files = FileChanges<File>(changes)
        update(index, files.identifiers, moves: files.moves, ignoreFiles: files.ignoreFiles, acknowledge)
    }

    private func update(
        _ index: CSSearchableIndex, _ identifiers: [String], moves: [FileMove], ignoreFiles: [String],
        _ acknowledge: () -> Void
    ) {
        do {
            try donor(to: index).update(identifiers, moves: moves, ignoreFiles: ignoreFiles)
            acknowledge()
        } catch {
            environment.report("reindexing \(identifiers.count + moves.count) \(noun)s failed: \(error)")
        }
    }

    /// Returns the file with this identifier. The error for a deleted file makes the host remove
    /// the item.
    package func file(_ identifier: String) throws -> File {
        let folders: ServedFolders<File> = try environment.settings().servedFolders()
        do throws(FileLookupError) {
            return try folders.file(withIdentifier: identifier)
        } catch {
            if error.isGone { throw CocoaError(.fileNoSuchFile) }
            throw error
        }
    }
}
