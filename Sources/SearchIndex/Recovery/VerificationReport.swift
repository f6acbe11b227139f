// SPDX-License-Identifier: Apache-2.0

/// The checks of a store and their findings.
public struct VerificationReport: Hashable, Sendable, Codable {
    /// A part of the store that was checked.
    public struct Check: Hashable, Sendable, Codable {
        /// The name of the part, such as “item records”.
        public var what: String
        /// The number of elements checked; `nil` if they are not counted.
        public var count: Int?
        /// The reason for skipping the check; `nil` if it ran.
        public var skipped: String?

        /// Creates a check.
        public init(what: String, count: Int? = nil, skipped: String? = nil) {
            (self.what, self.count, self.skipped) = (what, count, skipped)
        }
    }

    /// A problem.
    public struct Finding: Hashable, Sendable, Codable {
        /// The file, table or index with the problem.
        public var part: String
        /// A description of the problem.
        public var problem: String
        /// The repair that fixes the problem.
        public var repair: Repair

        /// Creates a finding.
        public init(part: String, problem: String, repair: Repair) {
            (self.part, self.problem, self.repair) = (part, problem, repair)
        }
    }

    /// The repairs, by the extent of their effect.
    public enum Repair: String, Hashable, Sendable, Codable {
        /// Rebuilds the index from the items; nothing is lost.
        case rebuildIndex
        /// Restores columns from the records; nothing is lost.
        case rewriteColumns
        /// Deletes the client states; their apps start over.
        case deleteClientStates
        /// Deletes the damaged items; a full reindex becomes pending.
        case deleteItems
        /// Copies the readable rows to a new database. A full reindex becomes pending unless every
        /// row was readable.
        case salvage
        /// Deletes the damaged log file. A full reindex becomes pending if the file contained
        /// entries that were not applied.
        case discardJournal
        /// Replaces the damaged list of pending jobs; a full reindex becomes pending.
        case oweEverything
        /// Revokes other users' permissions.
        case restrictMode
        /// Writes the file of a protected index again from the items in memory. Records that
        /// unlocking could not read are lost; a full reindex becomes pending then.
        case rewriteProtected
        /// Writes the file of the keys of protected indexes again from memory; nothing is lost.
        case rewriteKeys
        /// No repair while the protected indexes are locked.
        case unlock
        /// No automatic repair; the user has to inspect the problem.
        case none

        /// `true` if a repair of the store can fix the problem now.
        public var isPossible: Bool { self != .none && self != .unlock }
    }

    /// The checks.
    public var checks: [Check] = []
    /// The problems; if there are very many, only the first of each kind.
    public var findings: [Finding] = []
    /// Other information that is not a problem.
    public var notes: [String] = []

    /// `true` if there is no problem.
    public var isClean: Bool { findings.isEmpty }

    mutating func add(_ part: String, _ problem: String, _ repair: Repair) {
        findings.append(Finding(part: part, problem: problem, repair: repair))
    }
}
