// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Why the log could not do what it was asked.
package enum LogError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no room left on the device, or in the quota. Nothing of the entry is kept; it may be tried again.
    case full(operation: String, path: String)
    /// The log cannot be written, or not read, by this user.
    case notPermitted(operation: String, path: String)
    /// The file system reported something else. Nothing of the entry is kept.
    case io(operation: String, path: String, code: Int32)
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

    /// Sorts an error of the file system by what can be done about it.
    package init(_ error: LogFileError) {
        switch error.code {
        case ENOSPC, EDQUOT: self = .full(operation: error.operation, path: error.path)
        case EROFS, EACCES, EPERM: self = .notPermitted(operation: error.operation, path: error.path)
        default: self = .io(operation: error.operation, path: error.path, code: error.code)
        }
    }

    /// The error: what was attempted, what happened, what to do.
    package var description: String {
        switch self {
        case .full(let operation, let path): "\(operation) \(path) failed: the device is full. Make room and try again."
        case .notPermitted(let operation, let path):
            "\(operation) \(path) failed: not permitted. Check its permissions, or whether it is mounted read-only."
        case .io(let operation, let path, let code):
            "\(operation) \(path) failed: \(strerror(code).map { String(cString: $0) } ?? "error \(code)")."
        case .preconditionFailed: "The entry was not accepted: the state it expects is not the present one."
        case .invalidEntry(let error): error.description
        case .invalidSequence(let sequence):
            "No log has \(sequence) entries. The store's note of them is damaged, or a file is out of place."
        case .closed: "The write-ahead log is closed."
        case .damaged(let finding): "The write-ahead log is damaged. \(finding)"
        }
    }
}
