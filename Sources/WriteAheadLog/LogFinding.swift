// SPDX-License-Identifier: Apache-2.0

/// A problem in the log's files. Offsets are in bytes; file names do not include the folder.
package enum LogFinding: Hashable, Sendable, CustomStringConvertible {
    /// The last bytes of a segment are incomplete, because the program or the machine stopped
    /// during a write. These bytes were never acknowledged, so nothing is lost.
    case tornTail(file: String, offset: Int, bytes: Int)
    /// Acknowledged bytes are missing or changed.
    ///
    /// `entries` are the numbers of the unreadable entries; `nil` if all entries are readable, or
    /// if the numbers are unknown.
    case damaged(file: String, offset: Int, entries: ClosedRange<UInt64>?, reason: LogDamage)

    /// Returns the entries lost to an owner that has applied all entries through `applied`; `nil`
    /// if there are none.
    package func lostEntries(after applied: UInt64) -> ClosedRange<UInt64>? {
        guard case .damaged(_, _, let entries?, _) = self, entries.upperBound > applied else { return nil }
        return max(entries.lowerBound, applied + 1)...entries.upperBound
    }

    /// The finding in one sentence.
    package var description: String {
        switch self {
        case .tornTail(let file, let offset, let bytes):
            "\(file): \(bytes) bytes from byte \(offset) on were never acknowledged."
        case .damaged(let file, let offset, let entries, let reason):
            "\(file), byte \(offset): \(reason)"
                + (entries.map { "; entries \($0.lowerBound) to \($0.upperBound) cannot be read." } ?? ".")
        }
    }
}
