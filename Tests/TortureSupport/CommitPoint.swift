// SPDX-License-Identifier: Apache-2.0

/// The instants of a commit at which a donor can be killed, in the order in which they come.
public enum CommitPoint: String, CaseIterable, Sendable {
    // The log: a group, and the note of it.
    case beforeGroupWrite, halfGroupWrite, afterGroupWrite, afterGroupSync, halfNoteWrite, afterNoteWrite
    // The log: a new segment, or the first note.
    case newFileCreated, halfNewFileWrite, newFileWritten, newFileSynchronized, newFileRenamed, folderSynchronized
    // The database: what was journaled is carried over. "Before" a statement is when it begins, "after" when it ended.
    case beforeTransaction, afterItemInsert, afterItemUpdate, afterItemDeletion, afterAttributeInsert
    case afterTextInsert, afterClientState, afterAppliedNumber, beforeCommit, afterCommit
    // The log: segments that are no longer needed.
    case beforeRemoval, afterRemoval
    // The log: what an opening finds torn; the note made durable.
    case beforeCut, afterCut, afterNoteSync
    // The database: the tables are made.
    case afterTable, afterMigration
}

/// What a donor is doing when it comes by a point.
public enum DonorPhase: String, CaseIterable, Sendable {
    case opening, donating, closing
}

/// A point in a phase.
public struct KillSite: Hashable, Sendable, CustomStringConvertible {
    public var phase: DonorPhase
    public var point: CommitPoint

    public init(_ phase: DonorPhase, _ point: CommitPoint) {
        self.phase = phase
        self.point = point
    }

    public var description: String { "\(phase) \(point)" }

    /// All sites that a donor comes by; a torture that does not reach one of them has lost something to test.
    public static let all: [KillSite] =
        [
            .beforeGroupWrite, .halfGroupWrite, .afterGroupWrite, .afterGroupSync, .halfNoteWrite, .afterNoteWrite,
            .newFileCreated, .halfNewFileWrite, .newFileWritten, .newFileSynchronized, .newFileRenamed,
            .folderSynchronized, .beforeTransaction, .afterItemInsert, .afterItemUpdate, .afterItemDeletion,
            .afterAttributeInsert, .afterTextInsert, .afterClientState, .afterAppliedNumber, .beforeCommit,
            .afterCommit, .beforeRemoval, .afterRemoval,
        ].map { KillSite(.donating, $0) }
        + [
            .newFileCreated, .newFileWritten, .newFileSynchronized, .newFileRenamed, .folderSynchronized,
            .beforeTransaction, .afterItemInsert, .afterItemUpdate, .afterTextInsert, .afterClientState,
            .afterAppliedNumber, .beforeCommit, .afterCommit, .beforeCut, .afterCut, .halfNoteWrite, .afterNoteWrite,
            .afterNoteSync, .afterTable, .afterMigration, .halfNewFileWrite, .beforeRemoval, .afterRemoval,
        ].map { KillSite(.opening, $0) }
        + [KillSite(.closing, .afterNoteSync)]

    /// What must have happened before, so that an opening comes by the site; `nil` if nothing.
    public var preparation: KillSite? {
        guard phase == .opening else { return nil }
        switch point {
        case .beforeCut, .afterCut: return KillSite(.donating, .halfGroupWrite)
        case .beforeRemoval, .afterRemoval: return KillSite(.donating, .newFileWritten)
        case .halfNoteWrite, .afterNoteWrite, .afterNoteSync: return KillSite(.donating, .afterGroupSync)
        // Amid a transaction that applies, so that something is left to apply; others commit too.
        default: return isOfNewStore ? nil : KillSite(.donating, .afterAppliedNumber)
        }
    }

    /// Whether only the first opening of a store comes by the site.
    public var isOfNewStore: Bool {
        guard phase == .opening else { return false }
        switch point {
        case .afterTable, .afterMigration, .newFileCreated, .halfNewFileWrite, .newFileWritten, .newFileSynchronized,
            .newFileRenamed,
            .folderSynchronized:
            return true
        default: return false
        }
    }
}
