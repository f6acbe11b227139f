// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The desktop's own type database (freedesktop shared-mime-info), as evidence for files and clipboards whose types the
/// uniform type table does not know.
///
/// Never consulted by `UTType` itself. The files are read at the first question that needs them and kept; missing or damaged
/// ones count as empty, line by line. Safe from any thread; the first question of each kind blocks on reading.
public final class SharedMIMEInfo: Sendable {
    /// The `mime` folders, the user's first.
    public let roots: [String]

    /// The lists of names, without the contents rules.
    struct Names: Sendable {
        var globs = MIMEGlobs()
        /// The canonical name of an alias.
        var canonicalNames: [String: String] = [:]
        /// All aliases of a canonical name, in order.
        var aliases: [String: [String]] = [:]
        /// What a type is a subclass of, in order.
        var parents: [String: [String]] = [:]
    }

    private let names = Mutex<Names?>(nil)
    private let magic = Mutex<MIMEMagic?>(nil)

    /// Makes a database of some folders, without reading anything.
    ///
    /// - Parameter roots: The `mime` folders in order of precedence; none need exist.
    public init(roots: [String]) { self.roots = roots }

    /// The folders the XDG base directory rules give: `$XDG_DATA_HOME/mime`, then each of `$XDG_DATA_DIRS`.
    ///
    /// - Parameter environment: The environment; paths that are not absolute are ignored, as the rules demand.
    public static func standardRoots(environment: [String: String]) -> [String] {
        func absolute(_ path: String?) -> String? { path.flatMap { $0.hasPrefix("/") ? $0 : nil } }
        let home = absolute(environment["XDG_DATA_HOME"]) ?? absolute(environment["HOME"]).map { $0 + "/.local/share" }
        let list = environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        let folders = ([home] + list.split(separator: ":").map { absolute(String($0)) }).compactMap(\.self)
        return folders.map { ($0.hasSuffix("/") ? String($0.dropLast()) : $0) + "/mime" }
    }

    /// The largest list or rules file that is read, in bytes; the distribution's are below 50 KB.
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

    /// The MIME types that a file name suggests: several only if the database cannot tell them apart.
    public func mimeTypes(forFileNamed name: String) -> [String] {
        let last = name.split(separator: "/").last.map(String.init) ?? ""
        return loadedNames.globs.mimeTypes(for: last)
    }

    /// The MIME type that the beginning of a file's contents suggests, or `nil` if no rule matches.
    ///
    /// - Parameter bytes: The beginning; more than ``bytesNeeded`` are not looked at.
    public func mimeType(ofContents bytes: [UInt8]) -> String? { loadedMagic.mimeType(of: bytes) }

    /// How many bytes from the beginning of a file the rules look at, at most.
    public static let bytesNeeded = MIMEMagic.windowBytes

    /// The name the database prefers for a MIME type, lowercase; itself if it is not an alias.
    public func canonicalName(of mimeType: String) -> String {
        let name = mimeType.lowercased()
        return loadedNames.canonicalNames[name] ?? name
    }

    /// The other names of a MIME type.
    public func aliases(of mimeType: String) -> [String] {
        let names = loadedNames
        let name = mimeType.lowercased()
        let canonical = names.canonicalNames[name] ?? name
        return ([canonical] + (names.aliases[canonical] ?? [])).filter { $0 != name }
    }

    /// What a MIME type is declared a subclass of. In this database that means something else than conformance does: JSON
    /// is executable here and SVG plain text.
    public func parents(of mimeType: String) -> [String] {
        let names = loadedNames
        return names.parents[names.canonicalNames[mimeType.lowercased()] ?? mimeType.lowercased()] ?? []
    }
}
