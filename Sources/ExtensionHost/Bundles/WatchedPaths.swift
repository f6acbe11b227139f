// SPDX-License-Identifier: Apache-2.0

/// The files whose changes an extension is told of: `WatchedPaths` in the `Searchlight` dictionary of its manifest, `true` or an
/// array of paths.
///
/// ```xml
/// <key>ReadablePaths</key> <array><string>$HOME/.mozilla/firefox</string></array>
/// <key>WatchedPaths</key> <array><string>$HOME/.mozilla/firefox/*/places.sqlite*</string></array>
/// ```
public enum WatchedPaths: Hashable, Sendable {
    /// The key is missing, `false`, or an empty array.
    case none
    /// `true`: everything that it declares readable, but for its own bundle.
    case all
    /// An array: some of what it declares readable.
    case some([WatchedPath])

    static let expected = """
        true, or an array of at most \(DeclaredAccess.maximumPaths) paths, each of ReadablePathsFrom or in a path of \
        ReadablePaths that is not in $BUNDLE; the names after that may have * in them
        """

    /// Reads a value of a manifest.
    init(_ value: Any?, _ readable: [DeclaredPath], from lists: [DeclaredPath]) throws(BundleProblem) {
        let key = "Searchlight.WatchedPaths"
        switch value {
        case nil: self = .none
        case let isAll as Bool: self = isAll ? .all : .none
        case let texts as [String] where texts.count <= DeclaredAccess.maximumPaths:
            var paths: [WatchedPath] = []
            for text in texts {
                guard let path = WatchedPath(text, readable, from: lists) else {
                    throw .invalidValue(key: key, value: DeclaredAccess.shown(text), expected: Self.expected)
                }
                paths.append(path)
            }
            self = paths.isEmpty ? .none : .some(paths)
        case let value?: throw .invalidValue(key: key, value: DeclaredAccess.shown(value), expected: Self.expected)
        }
    }
}

/// A path of ``WatchedPaths``.
public struct WatchedPath: Hashable, Sendable, CustomStringConvertible {
    /// The folder or file; of a path of `ReadablePathsFrom` the list, which stands for what it lists.
    public let start: DeclaredPath
    /// Patterns of the names below it, one for each level; `*` stands for any characters.
    public let names: [String]
    /// Whether ``start`` is a list.
    public let isList: Bool

    /// Reads a path; `nil` if it is none, or lies in nothing that is readable.
    init?(_ text: String, _ readable: [DeclaredPath], from lists: [DeclaredPath]) {
        guard let path = DeclaredPath(text), path.base != .bundle else { return nil }
        isList = lists.contains(path)
        if isList {
            (start, names) = (path, [])
            return
        }
        guard readable.contains(where: { $0.holds(path) }) else { return nil }
        let depth = path.names.firstIndex { $0.contains("*") } ?? path.names.count
        guard let start = path.prefix(depth), readable.contains(where: { $0.holds(start) }) else { return nil }
        self.start = start
        names = Array(path.names.dropFirst(depth))
    }

    /// The path as a manifest would have it.
    public var description: String { ([start.description] + names).joined(separator: "/") }
}
