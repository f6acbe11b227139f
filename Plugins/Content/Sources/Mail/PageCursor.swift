// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

/// A position between two pages of a reindex.
struct PageCursor: Codable, Equatable {
    /// The path of the folder that is being read. Folders are read in the order of their paths.
    var folder: String
    /// In a Maildir, the name of the last file that was read; nil before the first.
    var file: String?
    /// In an mbox, the offset of the next message; nil for the first.
    var offset: Int64?

    /// The maximum size of a cursor that the host stores, in bytes.
    static let maximumBytes = 4096

    init(folder: String, file: String? = nil, offset: Int64? = nil) {
        (self.folder, self.file, self.offset) = (folder, file, offset)
    }

    /// Reads a cursor; nil if its format is unknown, so that the reindex starts from the beginning.
    init?(_ data: Data) {
        guard let cursor = try? JSONDecoder().decode(PageCursor.self, from: data) else { return nil }
        self = cursor
    }

    var data: Data? {
        // Every process encodes a position as the same bytes.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self), data.count <= Self.maximumBytes else { return nil }
        return data
    }
}
