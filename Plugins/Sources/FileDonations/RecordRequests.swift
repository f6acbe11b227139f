// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch
import FileReading
import Synchronization

/// The host's requests to an extension for files with records. Each request reads the settings and
/// folders again, so requests can run concurrently.
package final class RecordRequests<File: ServedFile> {
    /// The parts of the environment that tests replace.
    package struct Environment {
        /// Called once for each request.
        package var settings: () throws(Skip) -> FolderSettings
        /// Receives one line at a time.
        package var report: (String) -> Void = printToStandardError
        package var now: () -> ContinuousClock.Instant = { ContinuousClock.now }
        package var states = RecordStates.inIndex

        package init(settings: @escaping () throws(Skip) -> FolderSettings) { self.settings = settings }
    }

    /// The number of records after which a page ends while the host throttles the extension.
    package static var throttledCount: Int { 20 }

    private let environment: Environment
    private let noun: String
    private let read: (File) throws(SkipReason) -> FileRecords
    /// Returns the path of the served file that a changed file belongs to; nil if there is none.
    private let owner: (String) -> String?
    private let isThrottled = Mutex(false)
    /// Guards `interrupted`.
    private let lock = NSLock()
    /// The file in which the last reindex page ended. A page takes it out, so that no two pages use
    /// it.
    private var interrupted: InterruptedFile?

    /// - Parameters:
    ///   - noun: The noun for one record in reports, such as "card".
    ///   - owner: Returns the path of the served file that another file belongs to, such as the
    ///     write-ahead log of a database.
    ///   - read: Returns the records in a file.
    package init(
        _ environment: Environment, noun: String, owner: @escaping (String) -> String? = { _ in nil },
        read: @escaping (File) throws(SkipReason) -> FileRecords
    ) {
        self.environment = environment
        self.noun = noun
        self.owner = owner
        self.read = read
    }

    private func donor(to index: CSSearchableIndex) throws -> RecordDonor<File> {
        RecordDonor(
            to: index, try environment.settings(), noun: noun,
            progress: ProgressReport(print: environment.report, now: environment.now), states: environment.states,
            read: read)
    }

    package func throttle(_ isThrottled: Bool) { self.isThrottled.withLock { $0 = isThrottled } }

    package func reindex(
        _ index: CSSearchableIndex, _ page: CSReindexPage, _ acknowledge: @escaping @Sendable (Data?) -> Void
    ) {
        do {
            let deadline = environment.now() + page.maximumDuration
            var count = 0
            var interrupted = lock.withLock {
                defer { self.interrupted = nil }
                return self.interrupted
            }
            let end = try donor(to: index).donatePage(
                after: page.cursor.flatMap { RecordCursor($0) }, resuming: &interrupted, items: page.maximumItemCount
            ) { [unowned self] in
                count += 1
                if page.isCancelled || environment.now() >= deadline { return true }
                return count >= Self.throttledCount && isThrottled.withLock { $0 }
            }
            lock.withLock { self.interrupted = interrupted }
            acknowledge(end?.data)
        } catch {
            // Without an acknowledgement, the host requests the page again and deletes nothing
            // until then.
            environment.report("reindexing failed: \(error)")
        }
    }

    package func reindex(_ index: CSSearchableIndex, _ identifiers: [String], _ acknowledge: @escaping () -> Void) {
        do {
            try donor(to: index).update(identifiers)
            acknowledge()
        } catch {
            environment.report("reindexing \(identifiers.count) \(noun.plural) failed: \(error)")
        }
    }

    package func update(
        _ index: CSSearchableIndex, _ changes: [CSFileChange], _ acknowledge: @escaping @Sendable () -> Void
    ) {
        let files = FileChanges<File>(changes)
        var paths = files.identifiers
        for change in changes {
            guard case .changed(let file) = change, let path = owner(file.path(percentEncoded: false)) else { continue }
            paths.append(path)
        }
        do {
            try donor(to: index).update(files: paths, moves: files.moves, ignoreFiles: files.ignoreFiles)
            acknowledge()
        } catch {
            // Without an acknowledgement, the host reports the changes again.
            environment.report("updating the items of \(paths.count + files.moves.count) files failed: \(error)")
        }
    }

    /// Returns the file that an item comes from, and the key of its record.
    package func file(of identifier: String) throws -> (file: File, key: String) {
        try RecordDonor<File>.file(of: identifier, environment.settings())
    }
}
