// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport

/// A note about a refused repair, stored beside the database, so that the next process that opens
/// the store does not examine the damage again. The examination reads the whole database.
///
/// The note is valid for one state of the database's files and for a limited time, so damage caused
/// by a failed disk read is eventually examined again.
struct RepairRefusal: Codable {
    /// The state of a file. A different size, time or inode means that the file was changed or
    /// replaced.
    struct FileState: Hashable, Codable {
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int

        /// Reads the state of a file; `nil` if the file is missing or empty.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0, status.st_size > 0 else { return nil }
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
        }
    }

    /// The damage.
    var detail: String
    /// Some of the bundles that could not donate again; empty if they are unknown.
    var bundles: [String]
    /// The time of the examination, in seconds since 2001-01-01 UTC.
    var moment: Double
    /// The database and its WAL.
    var files: [FileState?]

    /// The largest number of stored bundles, and the largest size of the file in bytes.
    private static let maximumBundles = 100
    private static let maximumBytes = 1 << 18
    /// The time in seconds after which the damage is examined again: one day.
    private static let validity = 86400.0

    init(detail: String, bundles: [String], moment: Double, files: [FileState?]) {
        self.detail = detail
        self.bundles = Array(bundles.prefix(Self.maximumBundles))
        self.moment = moment
        self.files = files
    }

    /// Reads a note that describes the current files; `nil` if there is none.
    init?(path: String, files: [FileState?], now: Double?) {
        guard let bytes = try? OwnFile.bytes(path, limit: Self.maximumBytes),
            let note = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
            note.files == files, now.map({ (0..<Self.validity).contains($0 - note.moment) }) ?? true
        else { return nil }
        self = note
    }

    /// Writes the note. Errors are ignored: without the note, the next opening examines the damage
    /// again.
    func write(to path: String) {
        guard let data = try? JSONEncoder().encode(self), data.count <= Self.maximumBytes else { return }
        unlink(path)
        guard let descriptor = try? OwnFile.create(path) else { return }
        if case .failure = data.withUnsafeBytes({ WholeTransfer.write($0, to: descriptor.number) }) { unlink(path) }
    }
}
