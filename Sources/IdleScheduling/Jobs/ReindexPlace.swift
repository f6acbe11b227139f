// SPDX-License-Identifier: Apache-2.0
import Foundation

/// The position from which a paged reindex continues after an interruption.
///
/// A position is valid for one run of one extension in one generation of the index. The caller
/// checks this before it continues.
public struct ReindexPlace: Hashable, Sendable, Codable {
    /// The start of the next page, in the extension's own format.
    public var cursor: Data
    /// The number of acknowledged pages.
    public var pages: Int
    /// The number of times that the next page has failed.
    public var failures = 0
    /// The time at which the first page was requested, in seconds since 2001-01-01 UTC.
    public var began: Double
    /// The number of the replacement, in the index, that the pages belong to.
    public var replacement: Int64
    /// The generation of the index.
    public var generation: Int
    /// A fingerprint of the extension's files, which changes with each version.
    public var fingerprint: String

    /// The last request at the time when the first page was requested. The pages before this
    /// position do not cover later requests. `nil` in positions from older files.
    public var request: Int?

    /// The maximum length of a cursor, in bytes (`SEARCHLIGHT_CURSOR_MAX`).
    public static let maximumCursorBytes = 4096
    /// The number of failures of a page after which the next attempt restarts at the first page.
    public static let maximumFailures = 3

    /// Creates a position.
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

    /// `true` if all values are valid.
    public var isSound: Bool {
        cursor.count <= Self.maximumCursorBytes && pages > 0 && (0..<Self.maximumFailures).contains(failures)
            && fingerprint.utf8.count <= 1024
    }
}

extension JobQueue {
    /// Stores the position of a bundle's full reindex; `nil` restarts it from the beginning.
    /// Ignores the position if no full reindex is pending, or if a request made since the first
    /// page replaced too many items.
    public mutating func setPlace(_ place: ReindexPlace?, of bundle: String) {
        change(bundle) { job in
            guard let place else { return job.place = nil }
            if job.work == .reindexAll, job.canGoOn(at: place) { job.place = place }
        }
    }

    /// Records a failure of the page at a bundle's position.
    ///
    /// - Parameter isFinal: `true` if a retry of the page would fail too.
    public mutating func failPage(of bundle: String, isFinal: Bool) {
        change(bundle) { job in
            job.place?.failures += 1
            if isFinal || job.place.map({ $0.failures >= ReindexPlace.maximumFailures }) == true { job.place = nil }
        }
    }
}
