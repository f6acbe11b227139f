// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// The access that an extension declares: the `Searchlight` dictionary of its `Info.plist`. The
/// extension cannot access any other user data. See docs/EXTENSIONS.md.
public struct DeclaredAccess: Hashable, Sendable {
    /// `ReadablePaths`: readable files, and folders with their whole subtree.
    public var readablePaths: [DeclaredPath] = []
    /// `WritablePaths`: files and folders that are readable and writable; only in an app's own
    /// folders and the user's document folders.
    public var writablePaths: [DeclaredPath] = []
    /// `ReadablePathsFrom`: files in which the user lists folders that the extension may read, one
    /// per line.
    public var readablePathsFrom: [DeclaredPath] = []
    /// `WatchedPaths`: the readable files whose changes are reported to the extension.
    public var watchedPaths = WatchedPaths.none
    /// `IdentifiersArePaths`: `true` if the identifier of each item is the absolute path of its
    /// file.
    public var identifiersArePaths = false
    /// `AllowsNetwork`: `true` if the extension may open network connections.
    public var allowsNetwork = false
    /// `MemoryLimit`, in bytes.
    public var memoryLimit = defaultMemoryLimit
    /// `DesktopEntry`: the name of the app's desktop entry.
    public var desktopEntry: String?
    /// `true` if the manifest has `SymbolBindings`, whose closures are machine code generated at
    /// run time.
    public var bindsSymbols = false

    /// The default `MemoryLimit`, in bytes: ten times the memory that a Swift extension with
    /// Foundation uses after launch.
    public static let defaultMemoryLimit = 512 << 20
    /// The range of the `MemoryLimit`, in bytes. A Swift extension does not start with less than
    /// the lower bound.
    public static let memoryLimits = 64 << 20...16 << 30
    /// The maximum number of paths in each list.
    public static let maximumPaths = 64

    /// Creates an access declaration that only covers the extension's own folders.
    public init() {}

    /// Reads the `Searchlight` dictionary of a manifest.
    ///
    /// - Parameter identifier: The bundle's identifier. The extension's own folders are named after
    ///   it.
    init(manifest root: [String: Any], identifier: String) throws(BundleProblem) {
        guard let found = root["Searchlight"] else { return }
        guard let table = found as? [String: Any] else {
            throw .invalidValue(key: "Searchlight", value: Self.shown(found), expected: "a dictionary")
        }
        if let value = table["DesktopEntry"] {
            guard let name = value as? String, (1...255).contains(name.utf8.count),
                !name.utf8.contains(where: { $0 == 0x2F || $0 < 0x20 })
            else {
                throw .invalidValue(
                    key: "Searchlight.DesktopEntry", value: Self.shown(value),
                    expected: "the file name of a desktop entry, such as org.example.Journal.desktop")
            }
            desktopEntry = name
        }
        let names = AppNames(bundle: identifier, desktopEntry: desktopEntry)
        readablePaths = try Self.paths("ReadablePaths", in: table) { DenyList.reason($0) }
        writablePaths = try Self.paths("WritablePaths", in: table, isWritable: true) { WritableNames.reason($0, names) }
        readablePathsFrom = try Self.paths("ReadablePathsFrom", in: table) { DenyList.reason($0) }
        watchedPaths = try WatchedPaths(table["WatchedPaths"], readablePaths, from: readablePathsFrom)
        identifiersArePaths = try Self.flag("IdentifiersArePaths", in: table)
        allowsNetwork = try Self.flag("AllowsNetwork", in: table)
        if let value = table["MemoryLimit"] {
            guard let bytes = value as? Int, Self.memoryLimits.contains(bytes) else {
                let limits = Self.memoryLimits
                throw .invalidValue(
                    key: "Searchlight.MemoryLimit", value: Self.shown(value),
                    expected: "a number of bytes from \(limits.lowerBound) to \(limits.upperBound)")
            }
            memoryLimit = bytes
        }
        bindsSymbols = table["SymbolBindings"] != nil
    }

    private static func flag(_ key: String, in table: [String: Any]) throws(BundleProblem) -> Bool {
        guard let value = table[key] else { return false }
        guard let flag = value as? Bool else {
            throw .invalidValue(key: "Searchlight.\(key)", value: shown(value), expected: "true or false")
        }
        return flag
    }

    private static func paths(
        _ key: String, in table: [String: Any], isWritable: Bool = false,
        closed: (DeclaredPath) -> DenyList.Reason?
    ) throws(BundleProblem) -> [DeclaredPath] {
        guard let value = table[key] else { return [] }
        guard let texts = value as? [String], texts.count <= maximumPaths else {
            throw .invalidValue(
                key: "Searchlight.\(key)", value: shown(value), expected: "an array of at most \(maximumPaths) paths")
        }
        var paths: [DeclaredPath] = []
        for text in texts {
            guard let path = DeclaredPath(text), !(isWritable && path.base == .bundle) else {
                throw .invalidValue(
                    key: "Searchlight.\(key)", value: shown(text),
                    expected: isWritable ? DeclaredPath.expectedForWriting : DeclaredPath.expected)
            }
            if let reason = closed(path) {
                throw .closedPath(
                    key: "Searchlight.\(key)", path: path.description, reason: reason.sentence, advice: reason.advice)
            }
            paths.append(path)
        }
        return paths
    }

    static func shown(_ value: Any) -> String { String("\(value)".prefix(300)) }
}

/// A path in a manifest: absolute, or below a base folder that depends on the user.
public struct DeclaredPath: Hashable, Sendable, CustomStringConvertible {
    /// The base folder of a path that is not absolute.
    public enum Base: String, Sendable, CaseIterable {
        /// The user's home folder.
        case home = "$HOME"
        /// Settings; `~/.config` unless the variable says otherwise.
        case config = "$XDG_CONFIG_HOME"
        /// Data; `~/.local/share` unless the variable says otherwise.
        case data = "$XDG_DATA_HOME"
        /// Caches, which programs can rebuild; `~/.cache` unless the variable says otherwise.
        case cache = "$XDG_CACHE_HOME"
        /// State; `~/.local/state` unless the variable says otherwise.
        case state = "$XDG_STATE_HOME"
        /// Documents. `user-dirs.dirs` names this folder and the four below.
        case documents = "$XDG_DOCUMENTS_DIR"
        /// Downloads.
        case download = "$XDG_DOWNLOAD_DIR"
        /// Music.
        case music = "$XDG_MUSIC_DIR"
        /// Pictures.
        case pictures = "$XDG_PICTURES_DIR"
        /// Videos.
        case videos = "$XDG_VIDEOS_DIR"
        /// The extension's own folder.
        case bundle = "$BUNDLE"

        /// `true` if a manifest may declare the base itself, without a name below it. The other
        /// bases are shared by all apps.
        var mayStandAlone: Bool { self == .bundle || isDocuments }
        /// `true` if the base is one of the folders for the user's documents.
        var isDocuments: Bool { Self.documentFolders.contains(self) }
        /// The document folders: five of the eight folders in `user-dirs.dirs`. The other three are
        /// excluded: programs are started from the desktop, menus list the templates, and other
        /// users on the network read the public folder.
        static let documentFolders: [Base] = [.documents, .download, .music, .pictures, .videos]
    }
    /// The base, or `nil` for an absolute path.
    public let base: Base?
    /// The names below the base; for an absolute path, the names below `/`.
    public let names: [String]

    /// The maximum length of a path, in bytes.
    public static let maximumBytes = 1024

    static let expected = """
        a path without “..” of at most \(maximumBytes) bytes: absolute, or below ~/, \
        \(Base.allCases.map(\.rawValue).joined(separator: ", ")); not / or the home folder as a whole
        """
    static let expectedForWriting = expected + ", and not in the bundle"

    /// Parses a path. Returns `nil` if the text is not a path, leaves its base, or is a shared base
    /// itself.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumBytes, !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            return nil
        }
        let parts = pathNames(text)
        if text.hasPrefix("/") {
            base = nil
            names = parts
        } else {
            guard let first = parts.first else { return nil }
            guard let found = first == "~" ? Base.home : Base(rawValue: first) else { return nil }
            base = found
            names = Array(parts.dropFirst())
        }
        guard !names.contains(where: { $0 == "." || $0 == ".." }) else { return nil }
        if names.isEmpty, base?.mayStandAlone != true { return nil }
    }

    /// The path as it appears in the manifest.
    public var description: String {
        guard let base else { return "/" + names.joined(separator: "/") }
        return ([base.rawValue] + names).joined(separator: "/")
    }

    /// Returns `true` if `other` is this path or lies below it. Compares only the text.
    func holds(_ other: DeclaredPath) -> Bool {
        base == other.base && other.names.count >= names.count
            && zip(names, other.names).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Returns the path of the first `count` names, or `nil` if that is not a valid path.
    func prefix(_ count: Int) -> DeclaredPath? {
        DeclaredPath(([base?.rawValue ?? ""] + names.prefix(count)).joined(separator: "/"))
    }
}
