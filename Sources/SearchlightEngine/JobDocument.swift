// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling

/// The file of the jobs. Format 1 had no checksum, format 2 no donors, format 3 no places of
/// reindexes in pages, format 4 no causes.
struct JobDocument: ChecksummedDocument {
    /// Bound on the file, which holds at most one job for each bundle.
    static let maximumBytes = 64 << 20
    /// The most names of bundles that ever donated; those of others are not noted.
    static let maximumDonors = 10_000
    /// The longest of these names, in bytes of UTF-8: as long as the identifier of an extension may be.
    static let maximumDonorBytes = 255
    private static let currentFormat = 5

    private(set) var formatVersion = currentFormat
    /// The generation of the index for which everything owed by its losses was written down.
    var generation: Int?
    var queue: JobQueue
    /// The bundles that ever donated, sorted; since format 3.
    var donors: [String]?
    /// Of the document without it; since format 2.
    var checksum: UInt32?

    /// A document in the present format.
    init(generation: Int, queue: JobQueue, donors: [String]) {
        self.generation = generation
        self.queue = queue
        self.donors = donors
    }

    /// Reads a document; `nil` if it cannot be understood, or anything in it was changed.
    init?(_ data: Data) {
        guard let document = try? JSONDecoder().decode(JobDocument.self, from: data), document.isSound() else {
            return nil
        }
        self = document
    }

    /// Whether the name of a bundle is short enough to be noted.
    static func canBeKept(donor: String) -> Bool { donor.utf8.count <= maximumDonorBytes }

    private func isSound() -> Bool {
        let places = queue.jobs.compactMap(\.place)
        guard places.allSatisfy(\.isSound), places.isEmpty || formatVersion > 3,
            formatVersion > 4 || queue.jobs.allSatisfy(\.hasNoCause)
        else { return false }
        switch formatVersion {
        case 1: return checksum == nil && donors == nil
        case 2: return donors == nil && hasRightChecksum
        case 3, 4, Self.currentFormat:
            return hasRightChecksum
                && donors.map { $0.count <= Self.maximumDonors && $0.allSatisfy(Self.canBeKept) } == true
        default: return false
        }
    }
}
