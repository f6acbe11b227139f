// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine

extension GlobalOptions {
    /// `true` to bypass the service.
    package var staysInProcess: Bool { inProcess || (environment["SEARCHLIGHT_IN_PROCESS"] ?? "0") != "0" }

    /// The service of the store, if one runs and is to be asked.
    ///
    /// - Throws: `EngineError.service`, if it cannot be spoken with.
    package func connectToService() async throws(EngineError) -> RemoteEngine? {
        guard !staysInProcess else { return nil }
        return try await RemoteEngine.connect(storeDirectory: storeDirectory, program: "searchlight")
    }

    /// Makes the types known that the service's extensions declare, and says where it does not look.
    package func adoptExtensions(of service: RemoteEngine) async throws(EngineError) {
        let theirs = try await service.perform(ExtensionsCall()).searchPath
        let cache = RegistryCache(
            path: SearchlightEngine.registryCachePath(storeDirectory: storeDirectory), isWritable: false)
        let registry = ExtensionRegistry(searchPath: theirs, cache: cache)
        registry.registerTypes()
        warnOfOtherFolders(explicitExtensionFolders.filter { !theirs.contains($0) })
    }

    /// Says what the notes of an answer say of the store as it was opened and of its extensions.
    package func warnOfOpening(_ notes: StoreNotes) {
        warnOfOtherFolders(notes.otherExtensionFolders)
        warnOfOpening(notes.opening)
    }

    private func warnOfOtherFolders(_ folders: [String]) {
        guard !folders.isEmpty else { return }
        Output.complain(
            """
            Note: the service looks for extensions in folders of its own, and not in \(folders.joined(separator: ", ")). \
            Set SEARCHLIGHT_EXTENSION_PATH for the service, or stop it and use --in-process.
            """)
    }
}
