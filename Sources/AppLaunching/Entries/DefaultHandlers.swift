// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import UniformTypeIdentifiers

/// The default apps for MIME types and URL schemes, according to GIO's rules (Association between
/// MIME types and applications 1.0).
///
/// For each type, the lists of default applications come first, then the added associations and the
/// types that entries declare, as `update-desktop-database` collected them in `mimeinfo.cache`. If
/// no installed app handles a type, the search continues with its supertypes.
struct DefaultHandlers: Sendable {
    private let entries: DesktopEntries
    private let mime: SharedMIMEInfo
    private let folders: [Associations]

    /// The associations in one folder, by MIME type.
    private struct Associations: Sendable {
        /// The folder with desktop entries; `nil` for a folder with settings.
        var entries: String?
        var defaults: [String: [String]] = [:]
        var added: [String: [String]] = [:]
        var removed: [String: [String]] = [:]

        /// Adds the groups in a file. As in GIO, the associations of an alias belong to the type
        /// with the canonical name.
        ///
        /// - Parameter addedGroup: The group of added associations; `nil` for a file that may only
        ///   name default applications.
        mutating func add(_ file: DesktopFile, added addedGroup: String?, _ mime: SharedMIMEInfo) {
            func lists(in group: String) -> [(type: String, names: [String])] {
                file.lists(in: group).map { (mime.canonicalName(of: $0.key), $0.values) }
            }
            if let addedGroup {
                for (type, names) in lists(in: addedGroup) {
                    Self.append(names, to: &added[type, default: []], except: removed[type] ?? [])
                }
                for (type, names) in lists(in: "Removed Associations") {
                    Self.append(names, to: &removed[type, default: []], except: added[type] ?? [])
                }
            }
            for (type, names) in lists(in: "Default Applications") {
                Self.append(names, to: &defaults[type, default: []], except: [])
            }
        }

        /// Appends names. As in GIO, exceptions do not apply to the first names in a list.
        private static func append(_ names: [String], to list: inout [String], except excluded: [String]) {
            let isFirst = list.isEmpty
            for name in names
            where list.count < maximumNames && !list.contains(name) && (isFirst || !excluded.contains(name)) {
                list.append(name)
            }
        }
    }

    /// The maximum number of apps in a list.
    private static let maximumNames = 256
    /// The maximum number of supertypes that are tried.
    private static let maximumTypes = 64

    init(_ entries: DesktopEntries, _ mime: SharedMIMEInfo, environment: [String: String]) {
        (self.entries, self.mime) = (entries, mime)
        let base = BaseDirectories(environment: environment)
        let shared = environment["XDG_CONFIG_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/etc/xdg"
        let settings =
            [base.config].compactMap(\.self)
            + shared.split(separator: ":").map(String.init).filter { $0.hasPrefix("/") }
        let desktops = (environment["XDG_CURRENT_DESKTOP"] ?? "").split(separator: ":").prefix(8)
            .map { $0.lowercased() }.filter { !$0.utf8.contains(UInt8(ascii: "/")) }
        // Only the list without a desktop's name may add or remove associations.
        let lists: [(name: String, added: String?)] =
            desktops.map { ("\($0)-mimeapps.list", nil) } + [("mimeapps.list", "Added Associations")]
        func read(_ folder: String, _ lists: [(name: String, added: String?)], entries: String? = nil) -> Associations {
            var found = Associations(entries: entries)
            for (name, added) in lists {
                guard let file = DesktopFile(path: "\(folder)/\(name)", limit: DesktopFile.maximumListBytes) else {
                    continue
                }
                found.add(file, added: added, mime)
            }
            return found
        }
        let caches: [(name: String, added: String?)] = [("defaults.list", nil), ("mimeinfo.cache", "MIME Cache")]
        folders = settings.map { read($0, lists) } + entries.folders.map { read($0, lists + caches, entries: $0) }
    }

    /// Returns the default app for a MIME type, and the type or supertype that it handles; `nil` if
    /// there is none. The type of a URL scheme is `x-scheme-handler/` followed by the scheme.
    func handler(ofType type: String) -> (entry: DesktopEntry, type: String)? {
        // As in GIO, an association that is removed from a type is also removed from its
        // supertypes.
        var removed: Set<String> = []
        for type in types(of: type) {
            for identifier in identifiers(of: type, &removed) {
                if case .found(let entry) = entries.find(identifier) { return (entry, type) }
            }
        }
        return nil
    }

    /// Returns a type and its supertypes, nearest first.
    func types(of type: String) -> [String] {
        var types = [mime.canonicalName(of: type)]
        var next = 0
        while next < types.count, types.count < Self.maximumTypes {
            for parent in mime.parents(of: types[next]) where !types.contains(parent) { types.append(parent) }
            next += 1
        }
        return types
    }

    private func identifiers(of type: String, _ removed: inout Set<String>) -> [String] {
        var found: [String] = []
        for folder in folders {
            for name in folder.defaults[type] ?? [] where !found.contains(name) { found.append(name) }
        }
        for (index, folder) in folders.enumerated() {
            let counts = { (name: String) in !found.contains(name) && !isMasked(name, in: index) }
            for name in folder.added[type] ?? [] where !removed.contains(name) && counts(name) { found.append(name) }
            for name in folder.removed[type] ?? [] where counts(name) { removed.insert(name) }
        }
        return found
    }

    /// Returns `true` if a folder with higher precedence has an entry with this name, which then
    /// replaces the association's entry.
    private func isMasked(_ name: String, in index: Int) -> Bool {
        DesktopEntry.isIdentifier(name)
            && folders[..<index].contains { $0.entries.map { isThere("\($0)/\(name)") } ?? false }
    }

    /// Returns the MIME type of a resource.
    ///
    /// - Parameter contentType: A uniform type identifier, for a file whose type its name and
    ///   content do not show.
    func type(of resource: LaunchResource, contentType: String?) -> String {
        switch resource {
        case .url(let text): return "x-scheme-handler/" + (LaunchResource.scheme(of: text) ?? "")
        case .file(let path):
            if isFolder(path) { return "inode/directory" }
            let names = mime.mimeTypes(forFileNamed: path)
            if names.count == 1 { return names[0] }
            let bytes = (try? BoundedFile.beginning(path, limit: SharedMIMEInfo.bytesNeeded)) ?? []
            let found = mime.mimeType(ofContents: bytes)
            if let found, names.isEmpty || names.contains(found) { return found }
            if let name = names.first { return name }
            if let type = contentType.flatMap({ UTType($0) }), !type.isDynamic {
                return mime.mimeTypes(for: type)[0]
            }
            return String(validating: bytes.prefix(1024), as: UTF8.self) != nil && !bytes.contains(0)
                ? "text/plain" : "application/octet-stream"
        }
    }
}
