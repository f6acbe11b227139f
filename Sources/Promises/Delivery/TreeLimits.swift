// SPDX-License-Identifier: Apache-2.0

/// The size limits for a folder that fulfils a promise.
public struct TreeLimits: Hashable, Sendable {
    /// The maximum number of files, folders and links.
    public var entries: Int
    /// The maximum nesting depth of folders. Each level needs two descriptors during a copy.
    public var depth: Int

    /// Creates limits. Document packages stay far below the defaults.
    public init(entries: Int = 65_536, depth: Int = 64) {
        self.entries = entries
        self.depth = depth
    }
}

/// The size of a folder.
struct TreeSize: Hashable, Sendable {
    /// The number of files, folders and links.
    var entries = 0
    /// The total length of the files.
    var bytes: UInt64 = 0
    /// The space that the files need on a device, which is less than their length if they have
    /// holes.
    var neededBytes: UInt64 = 0
}
