// SPDX-License-Identifier: Apache-2.0
import Foundation

/// How far a reindex in pages has come, so that it goes on there after whatever has ended in between.
///
/// It holds for one run of one extension over one state of the index; whoever keeps it checks that before going on.
public struct ReindexPlace: Hashable, Sendable, Codable {
    /// Where the next page begins, in the extension's own terms.
    public var cursor: Data
    /// How many pages have been acknowledged.
    public var pages: Int
    /// How often the next one failed.
    public var failures = 0
    /// When the first page was asked for, in seconds since 2001-01-01 UTC.
    public var began: Double
    /// The number of the replacement that the pages belong to, as the index knows it.
    public var replacement: Int64
    /// The generation of the index.
    public var generation: Int
    /// What tells the extension's files from those of another version.
    public var fingerprint: String

    /// The last request when the first page was asked for: what was asked for since, the pages before this place did not
    /// answer. `nil` in places of older files.
    public var request: Int?

    /// The longest cursor, in bytes (`SEARCHLIGHT_CURSOR_MAX`).
    public static let maximumCursorBytes = 4096
    /// So many failures of the same page, and the next attempt begins with the first page.
    public static let maximumFailures = 3

    /// Creates a place.
    public init(
        cursor: Data, pages: Int, began: Double, replacement: Int64, generation: Int, fingerprint: String,
        request: Int? = nil
    ) {
        self.cursor = cursor
        self.pages = pages
        self.began = began
        self.replacement = replacement
        self.generation = generation
        self.fingerprint = fingerprint
        self.request = request
    }

    /// Whether nothing in it is impossible.
    public var isSound: Bool {
        cursor.count <= Self.maximumCursorBytes && pages > 0 && (0..<Self.maximumFailures).contains(failures)
            && fingerprint.utf8.count <= 1024
    }
}

extension JobQueue {
    /// Notes how far the reindex of everything of a bundle has come; `nil` forgets it, so that it begins anew. A bundle that
    /// does not owe everything has no place, nor one that owes more since the first page than can be kept.
    public mutating func setPlace(_ place: ReindexPlace?, of bundle: String) {
        change(bundle) { job in
            guard let place else { return job.place = nil }
            if job.work == .reindexAll, job.canGoOn(at: place) { job.place = place }
        }
    }

    /// Notes that the page at the place of a bundle failed.
    ///
    /// - Parameter isFinal: Whether it would fail again.
    public mutating func failPage(of bundle: String, isFinal: Bool) {
        change(bundle) { job in
            job.place?.failures += 1
            if isFinal || job.place.map({ $0.failures >= ReindexPlace.maximumFailures }) == true { job.place = nil }
        }
    }
}
