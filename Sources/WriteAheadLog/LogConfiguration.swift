// SPDX-License-Identifier: Apache-2.0

/// The sizes that control a log's behaviour.
package struct LogConfiguration: Hashable, Sendable {
    /// The segment size, in bytes, at which a new segment is started. Opening the log checks 8 MiB
    /// in about 10 ms. Apart from a single large entry, this is also the most disk space that
    /// remains in use after all entries are applied.
    package var segmentBytes: Int
    /// The size, in bytes, at which a group accepts no further entries, so that the first of many
    /// large entries is not delayed.
    package var groupBytes: Int
    /// The distance, in bytes, between recorded entry positions in a segment. Reading can start at
    /// a recorded position instead of the segment's start.
    package var markBytes: Int

    /// Creates a configuration.
    package init(segmentBytes: Int = 8 << 20, groupBytes: Int = 4 << 20, markBytes: Int = 64 << 10) {
        self.segmentBytes = segmentBytes
        self.groupBytes = groupBytes
        self.markBytes = markBytes
    }
}
