// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization

/// The append-only journal of what was donated: an entry that is in it is durable, and an acknowledgement means that.
///
/// It knows nothing of what the entries are applied to. Its owner applies them elsewhere, says how far it got when it
/// opens the journal (`applied`) and lets it forget what is durable there (``discard(through:)``). One process at a time
/// may have a journal open; the owner of the store sees to that.
///
/// May be used from any task. File operations run on a queue of its own, so no cooperative thread ever waits for a disk;
/// entries that arrive during an `fdatasync` are written together and share the next one. docs/JOURNAL.md describes
/// files and guarantees.
final class Journal: Sendable {
    /// Decides whether an entry is accepted, given what accepted entries did to its scope's client state. Called in the
    /// order of acceptance with a lock held, and again if entries before it failed: quick, and without use of the journal.
    typealias Precondition = @Sendable (JournalStateChange) -> Bool

    /// What was wrong with the files when they were opened. Damage is never repaired in silence: the owner decides, and
    /// ``discard(through:)`` removes damaged segments once all that can be read from them was applied.
    let findings: [JournalFinding]

    /// Whether nothing said at the opening which entry was the last, so that the last ones could be missing.
    let lackedNote: Bool

    let ioQueue: DispatchQueue
    let folder: String
    let store: JournalStoreIdentifier
    let files: any JournalFiles
    let groupBytes: Int
    let queue = Mutex(JournalQueue())
    /// Taken on `ioQueue` alone, so nobody waits for it.
    let writer: Mutex<JournalWriter>
    /// What readers see; follows the writer after each change.
    let published: Mutex<(snapshot: JournalSnapshot, statistics: JournalStatistics)>

    /// Opens a journal, or begins one.
    ///
    /// Blocks: reads what has not been applied, and synchronises it. Everything found is then readable with
    /// ``replay(after:)``, whether it had been acknowledged or was complete without that.
    ///
    /// - Parameters:
    ///   - folder: Created with mode 0700 if it does not exist; the folder that holds it must.
    ///   - store: Of the store that this journal belongs to.
    ///   - applied: The highest number whose entry, with all before it, is durable elsewhere; 0 if none.
    ///   - acknowledged: The highest number known to have been given to an entry; it is not given again.
    ///   - files: The file system.
    /// - Throws: ``JournalError`` if the files cannot be read or written. Damage is no error but a finding.
    init(
        folder: String, store: JournalStoreIdentifier, applied: UInt64, acknowledged: UInt64 = 0,
        files: any JournalFiles = SystemJournalFiles(), configuration: JournalConfiguration = JournalConfiguration()
    ) throws(JournalError) {
        guard applied <= JournalNames.maximumSequenceAtOpening else { throw .invalidSequence(applied) }
        self.folder = folder
        self.store = store
        self.files = files
        groupBytes = configuration.groupBytes
        ioQueue = DispatchQueue(label: "com.searchlight.journal", qos: .userInitiated)
        let recovery: JournalRecovery
        do {
            recovery = try JournalWriter.examine(
                folder, store: store, applied: applied, acknowledged: max(applied, acknowledged), files: files,
                configuration: configuration)
        } catch {
            throw JournalError(error)
        }
        guard recovery.last <= JournalNames.maximumSequenceAtOpening else { throw .invalidSequence(recovery.last) }
        let opened: JournalWriter
        do {
            opened = try JournalWriter(
                recovery, folder: folder, store: store, applied: applied, files: files, configuration: configuration)
        } catch {
            throw JournalError(error)
        }
        findings = opened.findings
        lackedNote = recovery.lacksNote
        writer = Mutex(opened)
        published = Mutex((opened.snapshot, opened.currentStatistics))
    }

    /// What the journal did and holds. Never waits for the disk.
    var statistics: JournalStatistics { published.withLock { $0.statistics } }

    /// The number of the last entry that was ever acknowledged; 0 if none. Never waits for the disk.
    var lastSequence: UInt64 { published.withLock { $0.snapshot.last } }

    /// The durable entries with numbers above `sequence`, lazily. An entry is seen once its append has returned.
    ///
    /// Reading blocks. Segments must not be discarded beyond `sequence` meanwhile.
    func replay(after sequence: UInt64) -> JournalReplay {
        JournalReplay(
            published.withLock { $0.snapshot }, after: sequence, folder: folder, store: store, files: files)
    }
}
