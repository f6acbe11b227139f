// SPDX-License-Identifier: Apache-2.0
import Foundation
import IdleScheduling

/// The content of the job file. Format 2 added the checksum, format 3 the donors, format 4 the
/// resume positions of paged reindexes, and format 5 the causes.
struct JobDocument: ChecksummedDocument {
    /// The maximum size of the file, which contains at most one job for each bundle.
    static let maximumBytes = 64 << 20
    /// The maximum number of recorded donors. Further donors are not recorded.
    static let maximumDonors = 10_000
    /// The maximum length of a donor's name in UTF-8 bytes, the same as for extension identifiers.
    static let maximumDonorBytes = 255
    private static let currentFormat = 5

    private(set) var formatVersion = currentFormat
    /// The last index generation whose data losses are covered by recorded jobs.
    var generation: Int?
    var queue: JobQueue
    /// The bundles that have ever donated, sorted; since format 3.
    var donors: [String]?
    /// The checksum of the document without this field; since format 2.
    var checksum: UInt32?

    /// Creates a document in the current format.
    init(generation: Int, queue: JobQueue, donors: [String]) {
        self.generation = generation
        self.queue = queue
        self.donors = donors
    }

    /// Decodes a document; `nil` if it is malformed or its checksum does not match.
    init?(_ data: Data) {
        guard let document = try? JSONDecoder().decode(JobDocument.self, from: data), document.isSound() else {
            return nil
        }
        self = document
    }

    /// Returns `true` if a bundle's name is short enough to be recorded.
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
