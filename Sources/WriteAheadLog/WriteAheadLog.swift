// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The append-only log of donations. An acknowledged entry is durable.
///
/// The log does not know how its entries are applied. Its owner applies them elsewhere, passes the
/// number of the last applied entry when it opens the log (`applied`), and discards entries that
/// are durable elsewhere (``discard(through:)``). The owner of the store guarantees that only one
/// process has the log open.
///
/// May be used from any task. File operations run on a separate queue, so cooperative threads never
/// wait for a disk. Entries that arrive during an `fdatasync` are written together and share the
/// next one. docs/WRITE-AHEAD-LOG.md describes files and guarantees.
package final class WriteAheadLog: Sendable {
    /// Decides whether an entry is accepted, based on how the accepted entries changed its scope's
    /// client state. Called in order of acceptance with a lock held, and called again if earlier
    /// entries failed. Must return quickly and must not use the log.
    package typealias Precondition = @Sendable (ClientStateChange) -> Bool

    /// The problems found in the files when the log was opened. Damage is never repaired silently:
    /// the owner decides what to do. ``discard(through:)`` removes damaged segments once all their
    /// readable entries are applied.
    package let findings: [LogFinding]

    /// `true` if there was no record of the last entry when the log was opened, so that the last
    /// entries may be missing.
    package let lackedNote: Bool

    let ioQueue: DispatchQueue
    let folder: String
    let store: StoreIdentifier
    let files: any LogFiles
    let groupBytes: Int
    let queue = Mutex(AppendQueue())
    /// Locked only on `ioQueue`, so no thread waits for this lock.
    let writer: Mutex<LogWriter>
    /// The state that readers see, updated after each change of the writer.
    let published: Mutex<(snapshot: LogSnapshot, statistics: LogStatistics)>

    /// Opens a log, or creates one.
    ///
    /// Blocks. Reads the entries that are not applied, and synchronizes them. Afterwards,
    /// ``replay(after:)`` returns all complete entries, whether acknowledged or not.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder. It is created with mode 0700 if it does not exist; its
    ///     parent must exist.
    ///   - store: The identifier of the store that owns the log.
    ///   - applied: The highest entry number such that all entries through it are durable
    ///     elsewhere; 0 if there is none.
    ///   - acknowledged: The highest entry number known to have been used. It is not reused.
    ///   - files: The file system.
    /// - Throws: ``LogError`` if the files cannot be read or written. Damage is a finding, not an
    ///   error.
    package init(
        folder: String, store: StoreIdentifier, applied: UInt64, acknowledged: UInt64 = 0,
        files: any LogFiles = SystemLogFiles(), configuration: LogConfiguration = LogConfiguration()
    ) throws(LogError) {
        guard applied <= LogFileNames.maximumSequenceAtOpening else { throw .invalidSequence(applied) }
        self.folder = folder
        self.store = store
        self.files = files
        groupBytes = configuration.groupBytes
        ioQueue = DispatchQueue(label: "com.searchlight.log", qos: .userInitiated)
        let recovery: LogRecovery
        do {
            recovery = try LogWriter.examine(
                folder, store: store, applied: applied, acknowledged: max(applied, acknowledged), files: files,
                configuration: configuration)
        } catch {
            throw .file(error)
        }
        guard recovery.last <= LogFileNames.maximumSequenceAtOpening else { throw .invalidSequence(recovery.last) }
        let opened: LogWriter
        do {
            opened = try LogWriter(
                recovery, folder: folder, store: store, applied: applied, files: files, configuration: configuration)
        } catch {
            throw .file(error)
        }
        findings = opened.findings
        lackedNote = recovery.lacksNote
        writer = Mutex(opened)
        published = Mutex((opened.snapshot, opened.currentStatistics))
    }

    /// The counters and sizes of the log. Never waits for the disk.
    package var statistics: LogStatistics { published.withLock { $0.statistics } }

    /// The number of the last acknowledged entry; 0 if there is none. Never waits for the disk.
    package var lastSequence: UInt64 { published.withLock { $0.snapshot.last } }

    /// Returns the durable entries with numbers above `sequence`, lazily. Includes every entry for
    /// which `append` has returned.
    ///
    /// Reading blocks. Segments with entries after `sequence` must not be discarded while the
    /// sequence is being read.
    package func replay(after sequence: UInt64) -> LogReplay {
        LogReplay(
            published.withLock { $0.snapshot }, after: sequence, folder: folder, store: store, files: files)
    }
}
