// SPDX-License-Identifier: Apache-2.0
import Foundation
import UniformTypeIdentifiers

/// The extensions found on a search path, and those refused, each with its reason. Made from manifests alone.
public struct ExtensionRegistry: Sendable {
    /// A bundle that is not used.
    public struct Refusal: Hashable, Sendable, Codable {
        /// The `.searchext` directory.
        public var path: String
        /// Why not.
        public var problem: BundleProblem
    }

    /// The extensions, in the order of their identifiers.
    public private(set) var extensions: [ExtensionBundle] = []
    /// The bundles that are not used.
    public private(set) var refusals: [Refusal] = []
    /// The directories that were searched, first wins; some may not exist.
    public let searchPath: [String]

    /// Searches directories for bundles. A directory that does not exist is no error.
    public init(searchPath: [String]) {
        var known: Set<String> = []
        self.searchPath = searchPath.filter { known.insert($0).inserted }
        var seen: [String: ExtensionBundle] = [:]
        for directory in self.searchPath {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
            for name in names.sorted() where name.hasSuffix(ExtensionBundle.suffix) {
                let path = directory + "/" + name
                do throws(BundleProblem) {
                    let bundle = try ExtensionBundle(at: path)
                    if let other = seen[bundle.identifier] {
                        throw .shadowed(identifier: bundle.identifier, by: other.path)
                    }
                    seen[bundle.identifier] = bundle
                } catch {
                    refusals.append(Refusal(path: path, problem: error))
                }
            }
        }
        extensions = seen.values.sorted { $0.identifier < $1.identifier }
    }

    /// The extension with an identifier.
    ///
    /// - Throws: ``ExtensionError/refused(path:problem:)`` if its bundle is there and unusable,
    ///   ``ExtensionError/notFound(identifier:searchPath:known:)`` otherwise.
    public func bundle(_ identifier: String) throws(ExtensionError) -> ExtensionBundle {
        if let bundle = extensions.first(where: { $0.identifier == identifier }) { return bundle }
        // A bundle that cannot be read has no identifier; by habit its directory is named after it.
        if let refusal = refusals.first(where: { $0.path.hasSuffix("/" + identifier + ExtensionBundle.suffix) }) {
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
                + types.register(bundle.manifest.typeDeclarations, ofBundle: bundle.identifier)
            if !problems.isEmpty { diagnostics[bundle.identifier] = problems }
        }
        return diagnostics
    }

    /// The search path of the XDG base directory specification, below a first entry of one's own.
    ///
    /// - Parameters:
    ///   - explicit: Directories that come first, separated by colons (`SEARCHLIGHT_EXTENSION_PATH`).
    ///   - environment: The process's environment.
    public static func standardSearchPath(explicit: String?, environment: [String: String]) -> [String] {
        var directories = (explicit ?? "").split(separator: ":").map(String.init)
        let home = environment["HOME"] ?? ""
        let dataHome = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
        let dataDirectories =
            environment["XDG_DATA_DIRS"].flatMap { $0.isEmpty ? nil : $0 } ?? "/usr/local/share:/usr/share"
        for base in [dataHome] + dataDirectories.split(separator: ":").map(String.init) where base.hasPrefix("/") {
            directories.append(base + "/searchlight/extensions")
        }
        return directories
    }
}
