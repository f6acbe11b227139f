// SPDX-License-Identifier: Apache-2.0

/// The points of a commit at which a donor can be killed, in the order of their occurrence.
public enum CommitPoint: String, CaseIterable, Sendable {
    // The log: a group of batches, and its mark.
    case beforeGroupWrite, halfGroupWrite, afterGroupWrite, afterGroupSync, halfNoteWrite, afterNoteWrite
    // The log: a new segment, or the first mark.
    case newFileCreated, halfNewFileWrite, newFileWritten, newFileSynchronized, newFileRenamed, folderSynchronized
    // The database: logged batches are applied. "Before" is the start of a statement, "after" is
    // its end.
    case beforeTransaction, afterItemInsert, afterItemUpdate, afterItemDeletion, afterAttributeInsert
    case afterTextInsert, afterClientState, afterAppliedNumber, beforeCommit, afterCommit
    // The log: segments that are no longer needed.
    case beforeRemoval, afterRemoval
    // The log: a torn end that an opening finds; the mark becomes durable.
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

    /// All sites that a donor passes. A torture run that misses one of them no longer tests it.
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

    /// The kill that must precede, so that an opening passes the site; `nil` if none.
    public var preparation: KillSite? {
        guard phase == .opening else { return nil }
        switch point {
        case .beforeCut, .afterCut: return KillSite(.donating, .halfGroupWrite)
        case .beforeRemoval, .afterRemoval: return KillSite(.donating, .newFileWritten)
        case .halfNoteWrite, .afterNoteWrite, .afterNoteSync: return KillSite(.donating, .afterGroupSync)
        // In the middle of an applying transaction, so that some batches remain to be applied;
        // other transactions commit too.
        default: return isOfNewStore ? nil : KillSite(.donating, .afterAppliedNumber)
        }
    }

    /// `true` if only the first opening of a store passes the site.
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
