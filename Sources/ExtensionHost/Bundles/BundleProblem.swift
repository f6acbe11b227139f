// SPDX-License-Identifier: Apache-2.0

/// A reason not to use an extension bundle. The description says what is wrong and what to do.
public enum BundleProblem: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// There is no `Info.plist`, or it cannot be opened.
    case manifestUnreadable(reason: String)
    /// The path of the bundle is not a directory.
    case notADirectory(found: String)
    /// A file in the bundle is not a regular file but, for example, a symbolic link or a pipe.
    case notAFile(name: String, found: String)
    /// The `Info.plist` exceeds the size limit.
    case manifestTooLarge(bytes: Int)
    /// A required key is missing.
    case missingKey(String)
    /// A required key is missing, and the manifest has a key with a similar name.
    case misspeltKey(UnknownKey)
    /// A key has an invalid value.
    case invalidValue(key: String, value: String, expected: String)
    /// The manifest declares a path that no extension may declare. See docs/EXTENSIONS.md.
    case closedPath(key: String, path: String, reason: String, advice: String)
    /// The manifest's library cannot be opened.
    case libraryUnreadable(name: String, reason: String)
    /// The library is not a shared library.
    case notALibrary(name: String, found: String)
    /// The library is truncated or damaged, or is still being copied.
    case damagedLibrary(name: String, found: String)
    /// The library has the set-user-ID or set-group-ID bit.
    case privileged(name: String, mode: String)
    /// The library was built for another processor.
    case wrongArchitecture(name: String, found: String, expected: String)
    /// Another user could change the bundle.
    case writableByOthers(path: String, detail: String)
    /// A symbol binding has an error at this position.
    case invalidBinding(number: Int, line: Int, column: Int, problem: String, advice: String)
    /// `Searchlight.Database` has an error at this key.
    case invalidDatabase(key: String, column: String?, problem: String, advice: String)
    /// A bundle that comes earlier in the search path has the same identifier.
    case shadowed(identifier: String, by: String)

    /// The problem in one or two sentences, with the remedy.
    public var description: String {
        switch self {
        case .manifestUnreadable(let reason): "Its Info.plist cannot be read: \(reason)."
        case .notADirectory(let found):
            "It is \(found), and a bundle is a folder. Remove it, or replace it with the folder."
        case .notAFile(let name, let found):
            """
            Its \(name) is \(found), not a regular file. Put a copy of the file there; only the bundle as a whole may be \
            a symbolic link.
            """
        case .manifestTooLarge(let bytes):
            "Its Info.plist has \(bytes) bytes; the limit is \(ExtensionManifest.maximumBytes). Shorten it."
        case .missingKey(let key): "Its Info.plist has no \(key). Add it."
        case .misspeltKey(let key): "\(key) Correct the key, or add CFBundleExecutable."
        case .invalidValue(let key, let value, let expected):
            "\(key) in its Info.plist is \(value.debugDescription); expected is \(expected)."
        case .closedPath(let key, let path, let reason, let advice):
            "\(key) in its Info.plist names \(path.debugDescription), which \(reason). Declare \(advice) instead."
        case .libraryUnreadable(let name, let reason):
            """
            Its library \(name) (CFBundleExecutable) cannot be read: \(reason). Put it into the bundle, or correct the key.
            """
        case .notALibrary(let name, let found):
            "\(name) is not a shared library: \(found). Build it with -shared, or as a dynamic library product."
        case .damagedLibrary(let name, let found):
            "\(name) is incomplete: \(found). Wait until it is copied, or copy it again."
        case .privileged(let name, let mode):
            """
            \(name) has the set-user-ID or set-group-ID bit (mode \(mode)), which no library needs. Remove it (chmod \
            ug-s).
            """
        case .wrongArchitecture(let name, let found, let expected):
            "\(name) was built for \(found); this machine needs \(expected). Rebuild it for this machine."
        case .writableByOthers(let path, let detail):
            "\(path) \(detail), so another user could replace its code. Change its owner or mode (chmod go-w)."
        case .invalidBinding(let number, let line, let column, let problem, let advice):
            """
            Binding \(number) of Searchlight.SymbolBindings in its Info.plist, line \(line), column \(column): \
            \(problem). \(advice).
            """
        case .invalidDatabase(let key, let column, let problem, let advice):
            """
            Searchlight.Database\(key.isEmpty ? "" : "." + key) in its Info.plist\(column.map { ", column “\($0)”" } ?? ""): \
            \(problem). \(advice)
            """
        case .shadowed(let identifier, let other):
            "\(identifier) is already provided by \(other), which has precedence. Remove one of the two."
        }
    }
}

/// An oddity of a bundle that does not prevent its use.
public enum BundleWarning: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The directory is not named after the identifier. Users search for it under the identifier,
    /// and so does this program while the manifest cannot be read.
    case nameMismatch(directory: String, identifier: String)
    /// The manifest has a key that Searchlight does not read.
    case unknownKey(UnknownKey)
    /// The extension reads folders in which programs keep passwords or sessions next to searchable
    /// content.
    case readsSessions(paths: [String])
    /// The extension may change everything in the user's document folders, including projects that
    /// the user runs.
    case changesAllDocuments(paths: [String])

    /// The warning in one sentence.
    public var description: String {
        switch self {
        case .nameMismatch(let directory, let identifier):
            "Its folder is named \(directory). Rename it to \(identifier)\(ExtensionBundle.suffix), after its identifier."
        case .unknownKey(let key): key.description
        case .changesAllDocuments(let paths):
            """
            It can change everything in \(paths.prefix(8).joined(separator: ", ")), including programs that the user runs. \
            Declare only its own folders below them.
            """
        case .readsSessions(let paths):
            """
            It can read \(paths.prefix(8).joined(separator: ", "))\(paths.count > 8 ? " and \(paths.count - 8) more" : ""), which \
            also contain passwords and sessions of programs. Declare only the files that it needs.
            """
        }
    }
}
