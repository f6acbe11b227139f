// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The identifier of an item that is one of several in a file: the file's path and the record's
/// key, such as `/home/ada/.contacts/work.vcf//uid:4711`.
///
/// A path never contains `//`, so the first `//` ends the path.
package struct RecordIdentifier: Sendable, Equatable {
    /// The host's limit for an identifier, in bytes.
    private static let maximumBytes = 4096

    package var path: String
    package var key: String

    package init(path: String, key: String) { (self.path, self.key) = (path, key) }

    /// Reads an identifier; nil if its format is unknown.
    package init?(_ text: String) {
        // Compares bytes: in a comparison of characters, a combining character after a slash would
        // hide the slash.
        let bytes = text.utf8
        guard bytes.first == UInt8(ascii: "/"), let slashes = bytes.firstRange(of: "//".utf8),
            slashes.lowerBound > bytes.startIndex, slashes.upperBound < bytes.endIndex
        else { return nil }
        path = String(Substring(bytes[..<slashes.lowerBound]))
        key = String(Substring(bytes[slashes.upperBound...]))
    }

    package var text: String { Self.prefix(of: path) + key }

    /// Returns the common prefix of the identifiers of a file's records.
    package static func prefix(of path: String) -> String { path + "//" }

    /// Returns the domain of a file's items: the names of its folder and of the file. Dots in names
    /// become underscores, since dots separate the parts of a domain.
    package static func domain(of path: String) -> String {
        path.split(separator: "/").suffix(2).map { $0.replacing(".", with: "_") }.joined(separator: ".")
    }

    /// `true` if the host accepts the identifier.
    package var isAcceptable: Bool { text.utf8.count <= Self.maximumBytes && !text.utf8.contains(0) }
}

/// A position between two pages of a reindex of files with records.
package struct RecordCursor: Sendable, Equatable {
    /// The last file that was read.
    package var path: String
    /// The number of the file's records that were donated; nil if all were.
    package var records: Int?

    /// Returns `true` if a page can end in a file: a cursor has at most 4,096 bytes.
    package static func accepts(_ path: String) -> Bool { path.utf8.count <= 4_070 }

    package init(path: String, records: Int?) { (self.path, self.records) = (path, records) }

    /// Reads a cursor; nil if its format is unknown, so that the reindex starts from the beginning.
    package init?(_ data: Data) {
        let parts = data.split(separator: UInt8(ascii: " "), maxSplits: 1)
        guard parts.count == 2 else { return nil }
        let number = String(decoding: parts[0], as: UTF8.self)
        if number != "-" {
            guard let count = Int(number), count >= 0 else { return nil }
            records = count
        }
        path = String(decoding: parts[1], as: UTF8.self)
    }

    package var data: Data { Data("\(records.map(String.init) ?? "-") \(path)".utf8) }
}
