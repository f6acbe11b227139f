// SPDX-License-Identifier: Apache-2.0

/// What is wrong with a place in the log.
package enum LogDamage: Hashable, Sendable, CustomStringConvertible {
    /// So many bytes are no entries.
    case unreadable(bytes: Int)
    /// Entries are missing: a segment was removed or cut short.
    case missingEntries
    /// The segment has no valid header.
    case badHeader
    /// The file is from another store.
    case foreignStore
    /// The segment was written by a later version of this program.
    case newerFormat(UInt32)
    /// The segment's name and its header disagree about the first entry, or the name is not that of a segment.
    case misnamed
    /// An entry whose checksum is right cannot be decoded.
    case undecodable(LogEntryError)
    /// The note of the last durable entry is missing or damaged: the loss of the last entries would not be noticed.
    case badHead

    /// The damage, as it reads after a file's name.
    package var description: String {
        switch self {
        case .unreadable(let bytes): "\(bytes) bytes are not entries"
        case .missingEntries: "entries are missing; a file was removed or cut short"
        case .badHeader: "the header is damaged"
        case .foreignStore: "the file belongs to another store"
        case .newerFormat(let version):
            "the file has format \(version); this program reads up to \(LogSegmentHeader.formatVersion)"
        case .misnamed: "the file's name does not fit its contents"
        case .undecodable(let error): "\(error)"
        case .badHead: "the note of the last durable entry is missing or damaged"
        }
    }
}
