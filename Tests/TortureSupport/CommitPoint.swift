// SPDX-License-Identifier: Apache-2.0

/// The points in a commit at which a donor can be killed, in the order in which they occur.
public enum CommitPoint: String, CaseIterable, Sendable {
    // The log: a group of batches, and its mark.
    case beforeGroupWrite, halfGroupWrite, afterGroupWrite, afterGroupSync, halfNoteWrite, afterNoteWrite
    // The log: a new segment, or the first mark in a log.
    case newFileCreated, halfNewFileWrite, newFileWritten, newFileSynchronized, newFileRenamed, folderSynchronized
    // The database: logged batches are applied. "Before" means the start of a statement, "after"
    // its end.
    case beforeTransaction, afterItemInsert, afterItemUpdate, afterItemDeletion, afterAttributeInsert
    case afterTextInsert, afterClientState, afterAppliedNumber, beforeCommit, afterCommit
    // The log: segments that are no longer needed are removed.
    case beforeRemoval, afterRemoval
    // The log: an opening finds an incomplete end and cuts it off; the mark becomes durable.
    case beforeCut, afterCut, afterNoteSync
    // The database: the tables are created.
    case afterTable, afterMigration
}

/// The phase of a donor when it passes a point.
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

    /// All sites that a donor passes. If a torture run misses a site, the site is no longer tested.
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

    /// The kill that must come first, so that opening the store passes the site; `nil` if none is
    /// needed.
    public var preparation: KillSite? {
        guard phase == .opening else { return nil }
        switch point {
        case .beforeCut, .afterCut: return KillSite(.donating, .halfGroupWrite)
        case .beforeRemoval, .afterRemoval: return KillSite(.donating, .newFileWritten)
        case .halfNoteWrite, .afterNoteWrite, .afterNoteSync: return KillSite(.donating, .afterGroupSync)
        // In the middle of an applying transaction, so that some batches still have to be applied.
        // Other transactions commit too.
        default: return isOfNewStore ? nil : KillSite(.donating, .afterAppliedNumber)
        }
    }

    /// `true` if a site is passed only when a store is opened for the first time.
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
