// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// A file, or a folder with everything below it, that is watched for one owner.
///
/// ```swift
/// WatchedTree(owner: "org.example.notes", root: "/home/ada/Notes")
/// WatchedTree(owner: "org.example.browser", root: "/home/ada/.mozilla/firefox", names: ["*", "places.sqlite*"])
/// ```
package struct WatchedTree: Hashable, Sendable {
    /// The identifier of the extension that receives the changes.
    package var owner: String
    /// An absolute path without `.`, `..` and trailing slash. A symbolic link is followed.
    package var root: String
    /// Patterns for the first names below the root, one per level; `*` matches any characters.
    /// Below the last pattern's level, everything is watched.
    package var names: [String]

    /// The limits on a watched tree.
    package enum Limit {
        /// The maximum number of folder levels below the root.
        package static let depth = 64
        /// The maximum number of entries in all folders, including hidden ones.
        package static let entries = 1_000_000
    }

    /// Creates a tree.
    package init(owner: String, root: String, names: [String] = []) {
        self.owner = owner
        self.root = root
        self.names = names
    }

    /// All parts as a list that orders trees by bytes (``EntryName``).
    var order: [EntryName] { ([owner, root] + names).map { EntryName($0) } }

    package static func == (one: WatchedTree, other: WatchedTree) -> Bool { one.order == other.order }
    package func hash(into hasher: inout Hasher) { hasher.combine(order) }

    /// The only hidden file that is watched without a pattern: it excludes files in its folder, so
    /// that a change to it is a change to them.
    static let ignoreFileName = ".searchlightignore"

    /// Returns `true` if an entry below the root is watched, or is a folder that may contain
    /// watched entries. Other hidden names than ``ignoreFileName`` are watched only where a pattern
    /// begins with a dot.
    ///
    /// - Parameter depth: The level of the entry; 0 for entries of the root itself.
    func admits(_ name: String, depth: Int, isFolder: Bool) -> Bool {
        guard depth < names.count else { return !name.isHiddenName || !isFolder && name == Self.ignoreFileName }
        // A file can only match the last pattern.
        guard isFolder || depth == names.count - 1 else { return false }
        if name.utf8.first == UInt8(ascii: "."), names[depth].utf8.first != UInt8(ascii: ".") { return false }
        return Self.matches(Array(name.utf8), Array(names[depth].utf8))
    }

    /// Returns `true` if a name matches a pattern. The time is at worst proportional to the product
    /// of their lengths.
    static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (position, wanted) = (0, 0)
        // The position of the last star, and the position in the name when it was reached.
        var (star, met) = (-1, 0)
        while position < name.count {
            if wanted < pattern.count, pattern[wanted] == UInt8(ascii: "*") {
                (star, met) = (wanted, position)
                wanted += 1
            } else if wanted < pattern.count, pattern[wanted] == name[position] {
                position += 1
                wanted += 1
            } else if star >= 0 {
                met += 1
                (position, wanted) = (met, star + 1)
            } else {
                return false
            }
        }
        return pattern[wanted...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// Returns the trees except those that lie entirely within another tree of the same owner.
    static func withoutNested(_ trees: [WatchedTree]) -> Set<WatchedTree> {
        let distinct = Set(trees)
        return distinct.filter { tree in
            // A hidden name in a pattern is not covered by any other tree.
            tree.names.contains { $0.isHiddenName }
                || !distinct.contains { other in
                    other != tree && EntryName(other.owner) == EntryName(tree.owner) && other.names.isEmpty
                        && (EntryName(other.root) == EntryName(tree.root) || other.holds(tree.root))
                }
        }
    }

    /// Returns `true` if a path is below the root and contains no hidden names after it.
    private func holds(_ path: String) -> Bool {
        guard path.utf8.starts(with: (root + "/").utf8) else { return false }
        return !path.utf8.dropFirst(root.utf8.count + 1).split(separator: UInt8(ascii: "/"))
            .contains { $0.first == UInt8(ascii: ".") }
    }
}
