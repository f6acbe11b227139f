// SPDX-License-Identifier: Apache-2.0

/// The size limits of a folder that fulfils a promise.
public struct TreeLimits: Hashable, Sendable {
    /// The maximum number of files, folders and links.
    public var entries: Int
    /// The maximum nesting of folders. Each level takes two descriptors during a copy.
    public var depth: Int

    /// Creates limits. Document packages stay far below the default values.
    public init(entries: Int = 65_536, depth: Int = 64) {
        self.entries = entries
        self.depth = depth
    }
}

/// The size of a folder.
struct TreeSize: Hashable, Sendable {
    /// The number of files, folders and links.
    var entries = 0
    /// The sum of the files' lengths.
    var bytes: UInt64 = 0
    /// The space of the files on a device, which is less if they have holes.
    var neededBytes: UInt64 = 0
}
