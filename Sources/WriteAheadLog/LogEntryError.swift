// SPDX-License-Identifier: Apache-2.0

/// The reason why bytes are not a log entry, or why an entry cannot be encoded.
package enum LogEntryError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The bytes end inside a field.
    case truncated(offset: Int)
    /// A field has a value that the format does not allow.
    case malformed(offset: Int, reason: String)
    /// A later version of the program wrote the entry.
    case unknownVersion(UInt8)
    /// The entry exceeds a limit of the format.
    case tooLarge(what: String, value: Int, limit: Int)

    /// The error in one sentence.
    package var description: String {
        switch self {
        case .truncated(let offset): "The log entry ends inside a field at byte \(offset)."
        case .malformed(let offset, let reason): "The log entry is malformed at byte \(offset): \(reason)."
        case .unknownVersion(let version):
            """
            The log entry has version \(version), and this program reads up to version \(LogEntry.formatVersion). \
            Install a later version of Searchlight.
            """
        case .tooLarge(let what, let value, let limit):
            "The log entry has \(value) \(what), and the limit is \(limit)."
        }
    }
}
