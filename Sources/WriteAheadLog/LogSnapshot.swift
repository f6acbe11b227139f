// SPDX-License-Identifier: Apache-2.0

/// The durable entries of a log at one point in time, and their positions.
struct LogSnapshot: Sendable {
    /// The segments, in order.
    var segments: [LogSegment]
    /// The number of the last acknowledged entry, whether readable or not.
    var last: UInt64

    /// Returns the number of the last entry that belongs to a segment.
    func lastSequence(ofSegment index: Int) -> UInt64 {
        index + 1 < segments.count ? segments[index + 1].first - 1 : last
    }
}
