// SPDX-License-Identifier: Apache-2.0

/// Something in the log's files that is not as it should be. Offsets are in bytes, files are named without folder.
package enum LogFinding: Hashable, Sendable, CustomStringConvertible {
    /// The last bytes of a segment were being written when the program or the machine stopped. They were never
    /// acknowledged; nothing is lost.
    case tornTail(file: String, offset: Int, bytes: Int)
    /// Bytes that had been acknowledged are gone or changed.
    ///
    /// `entries` are the sequence numbers that cannot be read any more; `nil` if all can, or it cannot be known.
    case damaged(file: String, offset: Int, entries: ClosedRange<UInt64>?, reason: LogDamage)

    /// The entries that this finding takes away from one who has applied all up to a number.
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
