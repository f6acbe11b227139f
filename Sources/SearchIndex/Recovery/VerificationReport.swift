// SPDX-License-Identifier: Apache-2.0

/// What a check of a store looked at and what it found.
public struct VerificationReport: Hashable, Sendable, Codable {
    /// Something that was looked at.
    public struct Check: Hashable, Sendable, Codable {
        /// What, as in “item records”.
        public var what: String
        /// How many there were; `nil` if that is not counted.
        public var count: Int?
        /// Why it could not be checked, if so.
        public var skipped: String?

        /// Creates a check.
        public init(what: String, count: Int? = nil, skipped: String? = nil) {
            (self.what, self.count, self.skipped) = (what, count, skipped)
        }
    }

    /// Something that is not as it should be.
    public struct Finding: Hashable, Sendable, Codable {
        /// Where it is: a file, a table, an index.
        public var part: String
        /// What is wrong with it.
        public var problem: String
        /// What mends it.
        public var repair: Repair

        /// Creates a finding.
        public init(part: String, problem: String, repair: Repair) {
            (self.part, self.problem, self.repair) = (part, problem, repair)
        }
    }

    /// How deep a repair goes.
    public enum Repair: String, Hashable, Sendable, Codable {
        /// The index is made anew from the items; nothing is lost.
        case rebuildIndex
        /// Columns are filled in again from the records; nothing is lost.
        case rewriteColumns
        /// The client states that are damaged are deleted; their apps begin anew.
        case deleteClientStates
        /// The items that are damaged are deleted, and everything is owed again.
        case deleteItems
        /// What can be read is copied into a new database; everything is owed again unless all could be read.
        case salvage
        /// The damaged file of the log is removed; everything is owed again if what was in it had not been applied.
        case discardJournal
        /// The list of owed jobs is set aside, and everything is owed.
        case oweEverything
        /// Others lose the right to read or write it.
        case restrictMode
        /// A person has to look at it.
        case none
    }

    /// What was looked at.
    public var checks: [Check] = []
    /// What is wrong; the first of each kind, if there are very many.
    public var findings: [Finding] = []
    /// What is no damage, but worth knowing.
    public var notes: [String] = []

    /// Whether nothing is wrong.
    public var isClean: Bool { findings.isEmpty }

    mutating func add(_ part: String, _ problem: String, _ repair: Repair) {
        findings.append(Finding(part: part, problem: problem, repair: repair))
    }
}
