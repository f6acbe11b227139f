// SPDX-License-Identifier: Apache-2.0
import FileReading

/// The keys of records, which are part of their items' identifiers.
package enum ContentKey {
    private static let maximumIdentifier = 512

    /// Returns `uid:UID`, or else `sum:` followed by a digest of the content.
    package static func key(identifier: String?, content: ArraySlice<UInt8>) -> String {
        guard let identifier, !identifier.isEmpty else { return "sum:" + String(FNV1a.hash(content), radix: 16) }
        guard identifier.utf8.count <= maximumIdentifier else {
            return "uid:" + identifier.prefix(maximumUTF8Bytes: maximumIdentifier) + "~"
                + String(FNV1a.hash(identifier.utf8), radix: 16)
        }
        return "uid:" + identifier
    }
}

/// Makes keys unique: the second record with a key gets the suffix `~2`.
package struct UniqueKeys: Sendable {
    private var counts: [String: Int] = [:]

    package init() {}

    package mutating func unique(_ key: String) -> String {
        var count = counts[key, default: 0]
        var unique = key
        repeat {
            count += 1
            unique = count == 1 ? key : "\(key)~\(count)"
        } while count > 1 && counts[unique] != nil
        counts[key] = count
        if count > 1 { counts[unique] = 1 }
        return unique
    }
}

/// The encodings of whole files.
package enum ContentEncoding {
    /// Converts UTF-16 and UTF-32 with a byte order mark to UTF-8, and returns other bytes as they
    /// are.
    package static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        let marks: [[UInt8]] = [[0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE, 0xFF]]
        guard marks.contains(where: { bytes.starts(with: $0) }) else { return bytes }
        return Array(TextReading.text(of: bytes).text.utf8)
    }
}
