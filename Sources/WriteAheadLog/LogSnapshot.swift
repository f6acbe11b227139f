// SPDX-License-Identifier: Apache-2.0

/// What of a log is durable at a moment, and where.
struct LogSnapshot: Sendable {
    /// The files, in order.
    var segments: [LogSegment]
    /// The number of the last entry ever acknowledged, whether it can still be read or not.
    var last: UInt64

    /// The number of the last entry that belongs in a segment.
    func lastSequence(ofSegment index: Int) -> UInt64 {
        index + 1 < segments.count ? segments[index + 1].first - 1 : last
    }
}
