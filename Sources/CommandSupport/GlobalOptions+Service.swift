// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine

extension GlobalOptions {
    /// `true` to bypass the service.
    package var staysInProcess: Bool { inProcess || (environment["SEARCHLIGHT_IN_PROCESS"] ?? "0") != "0" }

    /// Connects to the store's service, unless the service is to be bypassed; `nil` if none is
    /// running.
    ///
    /// - Throws: `EngineError.service` if the connection fails.
    package func connectToService() async throws(EngineError) -> RemoteEngine? {
        guard !staysInProcess else { return nil }
        return try await RemoteEngine.connect(storeDirectory: storeDirectory, program: "searchlight")
    }

    /// Registers the types that the service's extensions declare, and reports requested folders
    /// that the service does not search.
    package func adoptExtensions(of service: RemoteEngine) async throws(EngineError) {
        let theirs = try await service.perform(ExtensionsCall()).searchPath
        let cache = RegistryCache(
            path: SearchlightEngine.registryCachePath(storeDirectory: storeDirectory), isWritable: false)
        let registry = ExtensionRegistry(searchPath: theirs, cache: cache)
        registry.registerTypes()
        warnOfOtherFolders(explicitExtensionFolders.filter { !theirs.contains($0) })
    }

    /// Reports an answer's notes about opening the store and about folders that are not searched.
    package func warnOfOpening(_ notes: StoreNotes) {
        warnOfOtherFolders(notes.otherExtensionFolders)
        warnOfOpening(notes.opening)
    }

    private func warnOfOtherFolders(_ folders: [String]) {
        guard !folders.isEmpty else { return }
        Output.complain(
            """
            Note: the service searches its own extension folders, not \(folders.joined(separator: ", ")). \
            Set SEARCHLIGHT_EXTENSION_PATH for the service, or stop it and use --in-process.
            """)
    }
}
