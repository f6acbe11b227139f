// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The desktop's type database (freedesktop shared-mime-info). It provides evidence for files and
/// clipboard contents whose types are not in the uniform type table.
///
/// `UTType` itself never uses it. Each file is read on first use and kept in memory. Missing files
/// are treated as empty, and damaged lines are ignored. Safe from any thread; the first call of
/// each kind blocks while files are read.
public final class SharedMIMEInfo: Sendable {
    /// The `mime` folders, in order of precedence; the user's folder is first.
    public let roots: [String]

    /// The name lists, without the content rules.
    struct Names: Sendable {
        var globs = MIMEGlobs()
        /// The canonical names by alias.
        var canonicalNames: [String: String] = [:]
        /// All aliases by canonical name, in order.
        var aliases: [String: [String]] = [:]
        /// The declared supertypes of each type, in order.
        var parents: [String: [String]] = [:]
    }

    private let names = Mutex<Names?>(nil)
    private let magic = Mutex<MIMEMagic?>(nil)

    /// Creates a database from folders, without reading them.
    ///
    /// - Parameter roots: The `mime` folders, in order of precedence. The folders need not exist.
    public init(roots: [String]) { self.roots = roots }

    /// Returns the folders defined by the XDG base directory specification: `$XDG_DATA_HOME/mime`,
    /// then the `mime` folders in `$XDG_DATA_DIRS`.
    ///
    /// - Parameter environment: The environment variables. Paths that are not absolute are ignored,
    ///   as the specification requires.
    public static func standardRoots(environment: [String: String]) -> [String] {
        func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = absolute(environment["XDG_DATA_HOME"]) ?? absolute(environment["HOME"]).map { $0 + "/.local/share" }
        let list = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let folders = ([home] + list.split(separator: ":").map { absolute(String($0)) }).compactMap(\.self)
        return folders.map { ($0.hasSuffix("/") ? String($0.dropLast()) : $0) + "/mime" }
    }

    /// The maximum size of a file that is read, in bytes. The distribution's files are smaller than
    /// 50 KB.
    static let maximumFileBytes = 8 << 20

    var loadedNames: Names {
        names.withLock { names in
            if let names { return names }
            let loaded = SharedMIMEInfo.loadNames(roots)
            names = loaded
            return loaded
        }
    }

    var loadedMagic: MIMEMagic {
        magic.withLock { magic in
            if let magic { return magic }
            var loaded = MIMEMagic()
            for root in roots { loaded.add(FileBytes.read(root + "/magic", limit: SharedMIMEInfo.maximumFileBytes)) }
            loaded.finish()
            magic = loaded
            return loaded
        }
    }

    // MARK: - MIME types

    /// Returns the MIME types that a file name suggests: several only if the database cannot
    /// distinguish them.
    public func mimeTypes(forFileNamed name: String) -> [String] {
        let last = name.split(separator: "/").last.map(String.init) ?? ""
        return loadedNames.globs.mimeTypes(for: last)
    }

    /// Returns the MIME type suggested by the beginning of a file's contents; `nil` if no rule
    /// matches.
    ///
    /// - Parameter bytes: The beginning of the contents. Bytes beyond ``bytesNeeded`` are ignored.
    public func mimeType(ofContents bytes: [UInt8]) -> String? { loadedMagic.mimeType(of: bytes) }

    /// The maximum number of bytes at the beginning of a file that the rules examine.
    public static let bytesNeeded = MIMEMagic.windowBytes

    /// Returns the database's preferred name for a MIME type, in lowercase; the name itself if it
    /// is not an alias.
    public func canonicalName(of mimeType: String) -> String {
        let name = mimeType.lowercased()
        return loadedNames.canonicalNames[name] ?? name
    }

    /// Returns the other names of a MIME type.
    public func aliases(of mimeType: String) -> [String] {
        let names = loadedNames
        let name = mimeType.lowercased()
        let canonical = names.canonicalNames[name] ?? name
        return ([canonical] + (names.aliases[canonical] ?? [])).filter { $0 != name }
    }

    /// Returns the declared supertypes of a MIME type. In this database, being a subtype does not
    /// imply conformance: JSON is a subtype of an executable type, and SVG of plain text.
    public func parents(of mimeType: String) -> [String] {
        let names = loadedNames
        return names.parents[names.canonicalNames[mimeType.lowercased()] ?? mimeType.lowercased()] ?? []
    }
}
