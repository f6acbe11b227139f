// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport
import UniformTypeIdentifiers

/// The extensions in a search path, and the rejected bundles with the reasons. Creating a registry
/// only reads manifests.
///
/// If several bundles have the same identifier, the registry uses the first one in the search path,
/// then by name. The others are ``BundleProblem/shadowed(identifier:by:)``. A rejected bundle does
/// not shadow others: a broken copy in the user's folder does not hide the system's copy.
public struct ExtensionRegistry: Sendable {
    /// A bundle that is not used.
    public struct Refusal: Hashable, Sendable, Codable {
        /// The `.searchext` directory.
        public var path: String
        /// The reason for the rejection.
        public var problem: BundleProblem

        /// The identifier that the directory's name suggests. By convention, a directory is named
        /// after its identifier.
        public var likelyIdentifier: String {
            if case .shadowed(let identifier, _) = problem { return identifier }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return name.hasSuffix(ExtensionBundle.suffix) ? String(name.dropLast(ExtensionBundle.suffix.count)) : name
        }
    }

    /// The extensions, sorted by identifier.
    public private(set) var extensions: [ExtensionBundle] = []
    /// The rejected bundles.
    public private(set) var refusals: [Refusal] = []
    /// The searched directories, in order of precedence. Some may not exist.
    public let searchPath: [String]

    /// The maximum number of bundles to read from one directory. The first ones by name are read.
    public static let maximumPerDirectory = 2048

    /// Searches directories for bundles. Directories that do not exist are skipped.
    ///
    /// - Parameter cache: The cache of earlier searches. It is updated with the results of this
    ///   search.
    public init(searchPath: [String], cache: RegistryCache? = nil) {
        var known: Set<String> = []
        self.searchPath = searchPath.filter { known.insert($0).inserted }
        var seen: [String: ExtensionBundle] = [:]
        var reader = BundleReader()
        let entries = cache?.entries() ?? [:]
        var found: [String: RegistryCache.Entry] = [:]
        for directory in self.searchPath {
            let problem = reader.problem(ofSearched: directory)
            for name in Self.bundleNames(in: directory) {
                let path = directory + "/" + name
                do throws(BundleProblem) {
                    if let problem { throw problem }
                    let result = try reader.read(path, known: entries[path])
                    if cache != nil { found[path] = result.entry }
                    if let other = seen[result.bundle.identifier] {
                        throw .shadowed(identifier: result.bundle.identifier, by: other.path)
                    }
                    seen[result.bundle.identifier] = result.bundle
                } catch {
                    refusals.append(Refusal(path: path, problem: error))
                }
            }
        }
        extensions = seen.values.sorted { $0.identifier < $1.identifier }
        cache?.replace(found, in: Set(self.searchPath))
    }

    /// Returns the names in a directory that have the bundle suffix, sorted.
    static func bundleNames(in directory: String) -> [String] {
        guard let folder = opendir(directory) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name.hasSuffix(ExtensionBundle.suffix) { names.append(name) }
        }
        return Array(names.sorted().prefix(maximumPerDirectory))
    }

    /// Creates a registry with one extension and no search path.
    public init(only bundle: ExtensionBundle) {
        searchPath = []
        extensions = [bundle]
    }

    /// Returns the extension with an identifier.
    ///
    /// - Throws: ``ExtensionError/refused(path:problem:)`` if its bundle exists but is unusable,
    ///   otherwise ``ExtensionError/notFound(identifier:searchPath:known:)``.
    public func bundle(_ identifier: String) throws(ExtensionError) -> ExtensionBundle {
        if let bundle = extensions.first(where: { $0.identifier == identifier }) { return bundle }
        // An unreadable bundle has no identifier, so its directory name is used.
        if let refusal = refusals.first(where: { $0.likelyIdentifier == identifier }) {
            throw .refused(path: refusal.path, problem: refusal.problem)
        }
        throw .notFound(identifier: identifier, searchPath: searchPath, known: extensions.map(\.identifier))
    }

    /// Registers the extensions' declared types.
    ///
    /// - Parameter types: The registry to add them to. `UTType` uses the shared registry of the
    ///   process.
    /// - Returns: The problems of the declarations, by bundle. They do not prevent the use of an
    ///   extension.
    @discardableResult
    public func registerTypes(in types: UTTypeRegistry = .shared) -> [String: [UTTypeDiagnostic]] {
        var diagnostics: [String: [UTTypeDiagnostic]] = [:]
        for bundle in extensions {
            let problems =
                bundle.manifest.typeDiagnostics
                + types.register(
                    bundle.manifest.typeDeclarations, ofBundle: bundle.identifier, at: bundle.directory)
            if !problems.isEmpty { diagnostics[bundle.identifier] = problems }
        }
        return diagnostics
    }

    /// Returns the folder for a user's own extensions, or an empty string if the environment names
    /// no home folder.
    public static func userDirectory(environment: [String: String]) -> String {
        guard let data = BaseDirectories(environment: environment).data else { return "" }
        return withoutDoubledSlashes(data + "/searchlight/extensions")
    }

    /// Returns the search path of the XDG base directory specification, with explicit directories
    /// first.
    ///
    /// - Parameters:
    ///   - explicit: Directories before the standard ones, separated by colons
    ///     (`SEARCHLIGHT_EXTENSION_PATH`).
    ///   - environment: The process's environment.
    public static func standardSearchPath(explicit: String?, environment: [String: String]) -> [String] {
        var directories = (explicit ?? "").split(separator: ":").map(String.init)
        let user = userDirectory(environment: environment)
        if !user.isEmpty { directories.append(user) }
        directories += BaseDirectories(environment: environment).sharedData.map { $0 + "/searchlight/extensions" }
        // “/usr/share/” and “/usr/share” name one directory. Its bundles must not be found twice.
        return directories.map(withoutDoubledSlashes)
    }

    private static func withoutDoubledSlashes(_ path: String) -> String {
        let joined = path.split(separator: "/").joined(separator: "/")
        return path.hasPrefix("/") ? "/" + joined : joined
    }
}
