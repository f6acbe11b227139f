// SPDX-License-Identifier: Apache-2.0

/// How large a folder that fulfils a promise may be.
public struct TreeLimits: Hashable, Sendable {
    /// How many files, folders and links.
    public var entries: Int
    /// How many folders one in the other. Each takes two descriptors while it is copied.
    public var depth: Int

    /// Creates limits; a package of documents has far less.
    public init(entries: Int = 65_536, depth: Int = 64) {
        self.entries = entries
        self.depth = depth
    }
}

/// How much there is in a folder.
struct TreeSize: Hashable, Sendable {
    /// Files, folders and links.
    var entries = 0
    /// The lengths of the files.
    var bytes: UInt64 = 0
    /// What these take of a device; less where they have holes.
    var neededBytes: UInt64 = 0
}
