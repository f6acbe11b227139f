// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport
import UniformTypeIdentifiers

/// The extensions found on a search path, and those refused, each with its reason. Made from manifests alone.
///
/// Of several bundles with one identifier the first counts, by the order of the search path, then by name; the others are
/// ``BundleProblem/shadowed(identifier:by:)``. One that is refused hides none behind it: a broken copy of a user's own does
/// not take away the system's.
public struct ExtensionRegistry: Sendable {
    /// A bundle that is not used.
    public struct Refusal: Hashable, Sendable, Codable {
        /// The `.searchext` directory.
        public var path: String
        /// Why not.
        public var problem: BundleProblem

        /// By habit, and by a warning where it is not kept, a directory is named after its identifier.
        public var likelyIdentifier: String {
            if case .shadowed(let identifier, _) = problem { return identifier }
            let name = path.split(separator: "/").last.map(String.init) ?? path
            return name.hasSuffix(ExtensionBundle.suffix) ? String(name.dropLast(ExtensionBundle.suffix.count)) : name
        }
    }

    /// The extensions, in the order of their identifiers.
    public private(set) var extensions: [ExtensionBundle] = []
    /// The bundles that are not used.
    public private(set) var refusals: [Refusal] = []
    /// The directories that were searched, first wins; some may not exist.
    public let searchPath: [String]

    /// The most bundles of one directory that are looked at; the first by name.
    public static let maximumPerDirectory = 2048

    /// Searches directories for bundles. A directory that does not exist is no error.
    ///
    /// - Parameter cache: What is known of bundles from before; takes what is found now.
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

    /// The names of what is called as a bundle in a directory, sorted.
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

    /// One extension, wherever it is.
    public init(only bundle: ExtensionBundle) {
        searchPath = []
        extensions = [bundle]
    }

    /// The extension with an identifier.
    ///
    /// - Throws: ``ExtensionError/refused(path:problem:)`` if its bundle is there and unusable,
    ///   ``ExtensionError/notFound(identifier:searchPath:known:)`` otherwise.
    public func bundle(_ identifier: String) throws(ExtensionError) -> ExtensionBundle {
        if let bundle = extensions.first(where: { $0.identifier == identifier }) { return bundle }
        // A bundle that cannot be read has no identifier of its own.
        if let refusal = refusals.first(where: { $0.likelyIdentifier == identifier }) {
            throw .refused(path: refusal.path, problem: refusal.problem)
        }
        throw .notFound(identifier: identifier, searchPath: searchPath, known: extensions.map(\.identifier))
    }

    /// Makes the types that the extensions declare known.
    ///
    /// - Parameter types: Where; the process's own registry is what `UTType` asks.
    /// - Returns: What is wrong with the declarations, by bundle. None of it keeps an extension from being used.
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

    /// The folder for the extensions that a user installs for themselves; empty where nothing says whose home it is in.
    public static func userDirectory(environment: [String: String]) -> String {
        guard let data = BaseDirectories(environment: environment).data else { return "" }
        return withoutDoubledSlashes(data + "/searchlight/extensions")
    }

    /// The search path of the XDG base directory specification, below a first entry of one's own.
    ///
    /// - Parameters:
    ///   - explicit: Directories that come first, separated by colons (`SEARCHLIGHT_EXTENSION_PATH`).
    ///   - environment: The process's environment.
    public static func standardSearchPath(explicit: String?, environment: [String: String]) -> [String] {
        var directories = (explicit ?? "").split(separator: ":").map(String.init)
        let user = userDirectory(environment: environment)
        if !user.isEmpty { directories.append(user) }
        directories += BaseDirectories(environment: environment).sharedData.map { $0 + "/searchlight/extensions" }
        // “/usr/share/” is “/usr/share”, and what is in it must not be taken for two.
        return directories.map(withoutDoubledSlashes)
    }

    private static func withoutDoubledSlashes(_ path: String) -> String {
        let joined = path.split(separator: "/").joined(separator: "/")
        return path.hasPrefix("/") ? "/" + joined : joined
    }
}
