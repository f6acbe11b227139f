// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The append-only log of what was donated: an entry that is in it is durable, and an acknowledgement means that.
///
/// It knows nothing of what the entries are applied to. Its owner applies them elsewhere, says how far it got when it
/// opens the log (`applied`) and lets it forget what is durable there (``discard(through:)``). One process at a time
/// may have a log open; the owner of the store sees to that.
///
/// May be used from any task. File operations run on a queue of its own, so no cooperative thread ever waits for a disk;
/// entries that arrive during an `fdatasync` are written together and share the next one. docs/WRITE-AHEAD-LOG.md describes
/// files and guarantees.
package final class WriteAheadLog: Sendable {
    /// Decides whether an entry is accepted, given what accepted entries did to its scope's client state. Called in the
    /// order of acceptance with a lock held, and again if entries before it failed: quick, and without use of the log.
    package typealias Precondition = @Sendable (ClientStateChange) -> Bool

    /// What was wrong with the files when they were opened. Damage is never repaired in silence: the owner decides, and
    /// ``discard(through:)`` removes damaged segments once all that can be read from them was applied.
    package let findings: [LogFinding]

    /// Whether nothing said at the opening which entry was the last, so that the last ones could be missing.
    package let lackedNote: Bool

    let ioQueue: DispatchQueue
    let folder: String
    let store: StoreIdentifier
    let files: any LogFiles
    let groupBytes: Int
    let queue = Mutex(AppendQueue())
    /// Taken on `ioQueue` alone, so nobody waits for it.
    let writer: Mutex<LogWriter>
    /// What readers see; follows the writer after each change.
    let published: Mutex<(snapshot: LogSnapshot, statistics: LogStatistics)>

    /// Opens a log, or begins one.
    ///
    /// Blocks: reads what has not been applied, and synchronises it. Everything found is then readable with
    /// ``replay(after:)``, whether it had been acknowledged or was complete without that.
    ///
    /// - Parameters:
    ///   - folder: Created with mode 0700 if it does not exist; the folder that holds it must.
    ///   - store: Of the store that this log belongs to.
    ///   - applied: The highest number whose entry, with all before it, is durable elsewhere; 0 if none.
    ///   - acknowledged: The highest number known to have been given to an entry; it is not given again.
    ///   - files: The file system.
    /// - Throws: ``LogError`` if the files cannot be read or written. Damage is no error but a finding.
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

    /// What the log did and holds. Never waits for the disk.
    package var statistics: LogStatistics { published.withLock { $0.statistics } }

    /// The number of the last entry that was ever acknowledged; 0 if none. Never waits for the disk.
    package var lastSequence: UInt64 { published.withLock { $0.snapshot.last } }

    /// The durable entries with numbers above `sequence`, lazily. An entry is seen once its append has returned.
    ///
    /// Reading blocks. Segments must not be discarded beyond `sequence` meanwhile.
    package func replay(after sequence: UInt64) -> LogReplay {
        LogReplay(
            published.withLock { $0.snapshot }, after: sequence, folder: folder, store: store, files: files)
    }
}
