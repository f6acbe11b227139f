// SPDX-License-Identifier: Apache-2.0

/// Why the log could not do what it was asked.
package enum LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The system refused a file operation. Nothing of the entry is kept; it may be tried again.
    case file(LogFileError)
    /// The condition under which the entry was to be accepted does not hold.
    case preconditionFailed
    /// The entry exceeds a limit of the format.
    case invalidEntry(LogEntryError)
    /// The last number, of the owner's note or of a file's name, is one that no log reaches.
    case invalidSequence(UInt64)
    /// The log has been closed.
    case closed
    /// While reading: entries that should be here cannot be read.
    case damaged(LogFinding)

    /// The error: what was attempted, what happened, what to do.
    package var description: String {
        switch self {
        case .file(let error): error.description
        case .preconditionFailed: "The entry was not accepted: the state it expects is not the present one."
        case .invalidEntry(let error): error.description
        case .invalidSequence(let sequence):
            "No log has \(sequence) entries. The store's note of them is damaged, or a file is out of place."
        case .closed: "The write-ahead log is closed."
        case .damaged(let finding): "The write-ahead log is damaged. \(finding)"
        }
    }
}
