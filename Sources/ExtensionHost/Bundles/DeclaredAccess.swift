// SPDX-License-Identifier: Apache-2.0
import SystemSupport

/// What an extension says it needs to reach: the `Searchlight` dictionary of its `Info.plist`. It reaches nothing else of
/// the user's; see docs/EXTENSIONS.md.
public struct DeclaredAccess: Hashable, Sendable {
    /// `ReadablePaths`: files, and folders with all below them.
    public var readablePaths: [DeclaredPath] = []
    /// `WritablePaths`: the same, to be changed too; only an app's own folders, and the user's documents.
    public var writablePaths: [DeclaredPath] = []
    /// `ReadablePathsFrom`: files in which the person lists folders that the extension may read, one in a line.
    public var readablePathsFrom: [DeclaredPath] = []
    /// `WatchedPaths`: those of the readable files whose changes it is told of.
    public var watchedPaths = WatchedPaths.none
    /// `IdentifiersArePaths`: whether the identifier of an item is the absolute path of its file.
    public var identifiersArePaths = false
    /// `AllowsNetwork`: whether it may open connections.
    public var allowsNetwork = false
    /// `MemoryLimit`, in bytes.
    public var memoryLimit = defaultMemoryLimit
    /// `DesktopEntry`: the name of its app's desktop entry.
    public var desktopEntry: String?
    /// Whether there are `SymbolBindings`, whose closures are code made at run time.
    public var bindsSymbols = false

    /// What the `MemoryLimit` is if there is none, in bytes: ten times what a Swift extension with Foundation begins with.
    public static let defaultMemoryLimit = 512 << 20
    /// What it may be: a Swift extension does not start with less.
    public static let memoryLimits = 64 << 20...16 << 30
    /// The most paths in each list.
    public static let maximumPaths = 64

    /// Access to nothing but its own folders.
    public init() {}

    /// Reads the `Searchlight` dictionary of a manifest.
    ///
    /// - Parameter identifier: That of the bundle, which its own folders are named after.
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
        readablePaths = try Self.paths("ReadablePaths", in: table) { ClosedPlaces.reason($0) }
        writablePaths = try Self.paths("WritablePaths", in: table, isWritable: true) { WritableNames.reason($0, names) }
        readablePathsFrom = try Self.paths("ReadablePathsFrom", in: table) { ClosedPlaces.reason($0) }
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
        closed: (DeclaredPath) -> ClosedPlaces.Reason?
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

/// A path in a manifest: absolute, or below a folder that differs from person to person.
public struct DeclaredPath: Hashable, Sendable, CustomStringConvertible {
    /// What a path can begin with.
    public enum Base: String, Sendable, CaseIterable {
        /// The person's own folder.
        case home = "$HOME"
        /// Settings; `~/.config` unless the variable says otherwise.
        case config = "$XDG_CONFIG_HOME"
        /// Data; `~/.local/share` unless the variable says otherwise.
        case data = "$XDG_DATA_HOME"
        /// What can be made again; `~/.cache` unless the variable says otherwise.
        case cache = "$XDG_CACHE_HOME"
        /// State; `~/.local/state` unless the variable says otherwise.
        case state = "$XDG_STATE_HOME"
        /// Documents, as `user-dirs.dirs` names them; so with the four below.
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

        /// Whether it may stand alone: the others hold what belongs to everybody.
        var mayStandAlone: Bool { self == .bundle || isDocuments }
        /// Whether it is one of the folders that hold a user's documents.
        var isDocuments: Bool { Self.documentFolders.contains(self) }
        /// Those, of the eight of `user-dirs.dirs`: what is on the desktop is started from there, the templates fill menus, and
        /// the public folder is what others on the network read.
        static let documentFolders: [Base] = [.documents, .download, .music, .pictures, .videos]
    }
    /// What it begins with; `nil` for an absolute path.
    public let base: Base?
    /// The names below that; of an absolute path, those below `/`.
    public let names: [String]

    /// The longest path, in bytes.
    public static let maximumBytes = 1024

    static let expected = """
        a path without “..” of at most \(maximumBytes) bytes: absolute, or below ~/, \
        \(Base.allCases.map(\.rawValue).joined(separator: ", ")); not / or the home folder as a whole
        """
    static let expectedForWriting = expected + ", and not in the bundle"

    /// Reads a path; `nil` if it is none, leads out of its base, or would be everything.
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

    /// The path as a manifest would have it.
    public var description: String {
        guard let base else { return "/" + names.joined(separator: "/") }
        return ([base.rawValue] + names).joined(separator: "/")
    }

    /// Whether another path is this one or lies below it, as far as their texts say.
    func holds(_ other: DeclaredPath) -> Bool {
        base == other.base && other.names.count >= names.count
            && zip(names, other.names).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
    }

    /// The path up to a number of names; `nil` if that is none.
    func prefix(_ count: Int) -> DeclaredPath? {
        DeclaredPath(([base?.rawValue ?? ""] + names.prefix(count)).joined(separator: "/"))
    }
}
