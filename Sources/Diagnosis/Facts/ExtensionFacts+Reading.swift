// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import SymbolBindings

extension ExtensionFacts {
    /// Reads manifests and library headers without loading libraries or opening the index.
    init(_ roots: DiagnosisRoots, frameworkFolder: String?) {
        let registry = ExtensionRegistry(searchPath: roots.extensionSearchPath)
        let health = KeptHealth(storeDirectory: roots.store)
        let folders = LibraryFolders(root: roots.system)
        let own = frameworkFolder.flatMap { SharedLibraryFile(at: $0 + "/libCoreSpotlight.so") }
        self.init(
            searchPath: registry.searchPath,
            extensions: registry.extensions.map { bundle in
                let library = bundle.libraryPath.flatMap { SharedLibraryFile(at: $0) }
                let kept = health.extensions[bundle.identifier]
                // In a worker, the dynamic linker searches the host's folder first, then the
                // extension's own folders.
                let before = [frameworkFolder].compactMap { $0 } + (library?.folders ?? [])
                return Extension(
                    identifier: bundle.identifier,
                    missingLibraries: (library?.needed ?? []).filter { !folders.has($0, besides: before) },
                    missingChoices: Self.missingChoices(bundle, folders),
                    otherCompiler: Self.otherCompiler(library, own), isDisabled: kept?.isDisabled ?? false,
                    quarantine: kept?.quarantine?.reason, itemsSetAside: kept?.itemsSetAside.count ?? 0,
                    warnings: bundle.warnings.map(\.description))
            },
            refusals: registry.refusals.map { refusal in
                var isShadowed = false
                if case .shadowed = refusal.problem { isShadowed = true }
                return Refusal(path: refusal.path, reason: refusal.problem.description, isShadowed: isShadowed)
            },
            isHealthDamaged: health.wasDamaged)
    }

    /// Returns the bindings for which none of the alternative libraries is installed.
    private static func missingChoices(_ bundle: ExtensionBundle, _ folders: LibraryFolders) -> [String] {
        var missing: [String] = []
        for text in bundle.manifest.bindings {
            guard let binding = try? SymbolBinding(parsing: text) else { continue }
            let isThere = binding.libraries.contains { name in
                name.hasPrefix("./") ? folders.has(bundle.directory + name.dropFirst()) : folders.has(name)
            }
            let choice = binding.libraries.joined(separator: " or ")
            if !isThere, !missing.contains(choice) { missing.append(choice) }
        }
        return missing
    }

    /// Returns the library's compiler if it differs from the compiler of Searchlight's own library.
    /// On Linux, Swift's libraries work only with code from the same compiler; code that uses none
    /// of them works with any compiler.
    private static func otherCompiler(_ library: SharedLibraryFile?, _ own: SharedLibraryFile?) -> String? {
        guard let library, library.needed.contains("libswiftCore.so"), let theirs = library.compiler,
            let ours = own?.compiler, theirs != ours
        else { return nil }
        return theirs
    }
}
