// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// A folder with all below it, or a file, that is watched for an owner.
///
/// ```swift
/// WatchedTree(owner: "org.example.notes", root: "/home/ada/Notes")
/// WatchedTree(owner: "org.example.browser", root: "/home/ada/.mozilla/firefox", names: ["*", "places.sqlite*"])
/// ```
package struct WatchedTree: Hashable, Sendable {
    /// Whose changes these are: the identifier of an extension.
    package var owner: String
    /// An absolute path without `.`, `..` and a slash at its end. A symbolic link is followed.
    package var root: String
    /// Patterns of the first names below the root, one for each level; `*` stands for any characters. Below the last one
    /// everything is watched.
    package var names: [String]

    /// How far a tree is watched.
    package enum Limit {
        /// Levels of folders below the root.
        package static let depth = 64
        /// Entries of all folders, hidden ones included.
        package static let entries = 1_000_000
    }

    /// Creates a tree.
    package init(owner: String, root: String, names: [String] = []) {
        self.owner = owner
        self.root = root
        self.names = names
    }

    /// All parts, in an order. Compared by their bytes (``EntryName``).
    var order: [EntryName] { ([owner, root] + names).map { EntryName($0) } }

    package static func == (one: WatchedTree, other: WatchedTree) -> Bool { one.order == other.order }
    package func hash(into hasher: inout Hasher) { hasher.combine(order) }

    /// Whether something at a level below the root is watched, or may hold what is. Hidden names are watched only where a
    /// pattern begins with a dot.
    ///
    /// - Parameter depth: 0 for what is in the root itself.
    func admits(_ name: String, depth: Int, isFolder: Bool) -> Bool {
        guard depth < names.count else { return !name.utf8.starts(with: [UInt8(ascii: ".")]) }
        // A file can only be what the last pattern means.
        guard isFolder || depth == names.count - 1 else { return false }
        if name.utf8.first == UInt8(ascii: "."), names[depth].utf8.first != UInt8(ascii: ".") { return false }
        return Self.matches(Array(name.utf8), Array(names[depth].utf8))
    }

    /// Whether a name matches a pattern, in time proportional to the product of their lengths at most.
    static func matches(_ name: [UInt8], _ pattern: [UInt8]) -> Bool {
        var (position, wanted) = (0, 0)
        // The last star, and where in the name it was met.
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

    /// The trees without those that lie in another one of the same owner as a whole.
    static func withoutNested(_ trees: [WatchedTree]) -> Set<WatchedTree> {
        let distinct = Set(trees)
        return distinct.filter { tree in
            // Hidden names are in no other tree.
            tree.names.contains { $0.isHiddenName }
                || !distinct.contains { other in
                    other != tree && EntryName(other.owner) == EntryName(tree.owner) && other.names.isEmpty
                        && (EntryName(other.root) == EntryName(tree.root) || other.holds(tree.root))
                }
        }
    }

    /// Whether a path lies below the root and no name on the way is hidden.
    private func holds(_ path: String) -> Bool {
        guard path.utf8.starts(with: (root + "/").utf8) else { return false }
        return !path.utf8.dropFirst(root.utf8.count + 1).split(separator: UInt8(ascii: "/"))
            .contains { $0.first == UInt8(ascii: ".") }
    }
}
