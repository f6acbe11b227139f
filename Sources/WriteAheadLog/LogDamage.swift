// SPDX-License-Identifier: Apache-2.0

/// The kinds of damage in a log.
package enum LogDamage: Hashable, Sendable, CustomStringConvertible {
    /// Some bytes are not entries.
    case unreadable(bytes: Int)
    /// Entries are missing: a segment was removed or truncated.
    case missingEntries
    /// The segment has no valid header.
    case badHeader
    /// The file belongs to another store.
    case foreignStore
    /// A later version of this program wrote the segment.
    case newerFormat(UInt32)
    /// The segment's name and header disagree about the first entry, or the file name is not a
    /// segment name.
    case misnamed
    /// An entry with a valid checksum cannot be decoded.
    case undecodable(LogEntryError)
    /// The note of the last durable entry is missing or damaged, so a loss of the last entries
    /// would go unnoticed.
    case badHead

    /// A description of the damage, to be appended to the name of a file.
    package var description: String {
        switch self {
        case .unreadable(let bytes): "\(bytes) bytes are not entries"
        case .missingEntries: "entries are missing; a file was removed or cut short"
        case .badHeader: "the header is damaged"
        case .foreignStore: "the file belongs to another store"
        case .newerFormat(let version):
            """
            a later version of Searchlight wrote the file, in format \(version); this program reads up to format \
            \(LogSegmentHeader.formatVersion)
            """
        case .misnamed: "the file's name does not match its contents"
        case .undecodable(let error): "\(error)"
        case .badHead: "the record of the last durable entry is missing or damaged"
        }
    }
}
