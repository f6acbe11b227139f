// SPDX-License-Identifier: Apache-2.0

/// Sizes of a log.
package struct LogConfiguration: Hashable, Sendable {
    /// A new segment begins once the last one has this many bytes. 8 MiB are checked within about 10 ms at opening, and
    /// are the most that stays on disk after everything was applied, but for one large entry.
    package var segmentBytes: Int
    /// A group takes no further entry once it has this many bytes, so that the first of many large ones is not held up.
    package var groupBytes: Int
    /// Within a segment, the place of an entry is remembered every so many bytes, so that reading need not begin at the
    /// segment's start.
    package var markBytes: Int

    /// Creates sizes.
    package init(segmentBytes: Int = 8 << 20, groupBytes: Int = 4 << 20, markBytes: Int = 64 << 10) {
        self.segmentBytes = segmentBytes
        self.groupBytes = groupBytes
        self.markBytes = markBytes
    }
}
