// SPDX-License-Identifier: Apache-2.0

/// The reason why a log operation failed.
package enum LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A file operation failed. Nothing of the entry is kept, and the operation can be retried.
    case file(LogFileError)
    /// The condition for accepting the entry is false.
    case preconditionFailed
    /// The entry exceeds a limit of the format.
    case invalidEntry(LogEntryError)
    /// The last entry number, from the owner's database or from a file name, is impossibly high.
    case invalidSequence(UInt64)
    /// The log is closed.
    case closed
    /// Entries cannot be read.
    case damaged(LogFinding)

    /// A message with the operation, the problem and the remedy.
    package var description: String {
        switch self {
        case .file(let error): error.description
        case .preconditionFailed: "The entry was rejected: the client state is not the expected one."
        case .invalidEntry(let error): error.description
        case .invalidSequence(let sequence):
            """
            A write-ahead log cannot have \(sequence) entries. The store's record of them is damaged, or a file is \
            misplaced. Run: searchlight verify
            """
        case .closed: "The write-ahead log is closed."
        case .damaged(let finding): "The write-ahead log is damaged. \(finding)"
        }
    }
}
