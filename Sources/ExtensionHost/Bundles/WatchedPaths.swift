// SPDX-License-Identifier: Apache-2.0

/// The files whose changes are reported to an extension: `WatchedPaths` in the `Searchlight`
/// dictionary of its manifest, either `true` or an array of paths.
///
/// ```xml
/// <key>ReadablePaths</key> <array><string>$HOME/.mozilla/firefox</string></array>
/// <key>WatchedPaths</key> <array><string>$HOME/.mozilla/firefox/*/places.sqlite*</string></array>
/// ```
public enum WatchedPaths: Hashable, Sendable {
    /// The key is missing, `false`, or an empty array.
    case none
    /// `true`: all readable paths except the extension's own bundle.
    case all
    /// An array: a subset of the readable paths.
    case some([WatchedPath])

    static let expected = """
        true, or an array of at most \(DeclaredAccess.maximumPaths) paths, each of ReadablePathsFrom or in a path of \
        ReadablePaths that is not in $BUNDLE; the names after that may have * in them
        """

    /// Parses the manifest's value.
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

/// A path in ``WatchedPaths``.
public struct WatchedPath: Hashable, Sendable, CustomStringConvertible {
    /// The folder or file. For a path of `ReadablePathsFrom`, the list file, which stands for the
    /// paths that it lists.
    public let start: DeclaredPath
    /// Patterns for the names below ``start``, one for each level. `*` matches any characters.
    public let names: [String]
    /// `true` if ``start`` is a list file.
    public let isList: Bool

    /// Parses a path. Returns `nil` if the text is not a path or is not inside a readable path.
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

    /// The path as it appears in the manifest.
    public var description: String { ([start.description] + names).joined(separator: "/") }
}
