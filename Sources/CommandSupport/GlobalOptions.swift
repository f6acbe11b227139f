// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport

/// The options that every command has.
package struct GlobalOptions: ParsableArguments {
    /// Creates the options, to be parsed.
    package init() {}

    @Option(
        help: ArgumentHelp(
            "Use the index in this folder.",
            discussion: "Default: $SEARCHLIGHT_STORE, else searchlight/store in $XDG_DATA_HOME.", valueName: "dir"),
        completion: .directory)
    package var store: String?

    @Option(
        name: .customLong("extensions"),
        help: ArgumentHelp(
            "Search these folders for extensions first; separate several with colons.",
            discussion: """
                Default: $SEARCHLIGHT_EXTENSION_PATH. searchlight/extensions in $XDG_DATA_HOME and in each of \
                $XDG_DATA_DIRS follow.
                """,
            valueName: "dir"),
        completion: .directory)
    package var extensionPath: String?

    @Flag(help: "Print JSON.")
    package var json = false

    @Flag(
        help: ArgumentHelp(
            "Do not ask the service.",
            discussion: """
                Without this option, a command uses the service of the store if one runs, and opens the store itself \
                otherwise. $SEARCHLIGHT_IN_PROCESS=1 has the same effect.
                """))
    package var inProcess = false

    /// “make run” of an extension's project uses it.
    @Flag(
        help: ArgumentHelp(
            "Create keys for a new store beside it, and unlock the store with them; only for tests.",
            visibility: .hidden))
    package var scratchKeys = false

    @Option(
        help: ArgumentHelp(
            "Wait at most this long for another process to finish changing the index; 0 does not wait.",
            valueName: "seconds"))
    package var wait = 10

    /// The environment without empty variables, which are treated as unset.
    package var environment: [String: String] { Self.environment }
    private static let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }

    package func validate() throws {
        guard (0...86_400).contains(wait) else {
            throw ValidationError("--wait must be between 0 and 86400 seconds.")
        }
        guard !scratchKeys || inProcess && store != nil else {
            throw ValidationError("--scratch-keys needs --in-process and --store.")
        }
        try refuseEmpty(store, "--store", instead: "Name a folder, or leave the option out.")
        if let extensionPath, extensionPath.allSatisfy({ $0 == ":" }) {
            throw ValidationError("--extensions is empty. Name a folder, or leave the option out.")
        }
    }

    package var storeDirectory: String { location.folder }

    /// The paths of the store and of its service's socket.
    package var location: StoreLocation {
        if let store { StoreLocation(folder: store) } else { StoreLocation(environment: environment) }
    }

    /// The requested extension folders, separated by colons.
    package var explicitExtensionPath: String? { extensionPath ?? environment["SEARCHLIGHT_EXTENSION_PATH"] }

    package var explicitExtensionFolders: [String] {
        (explicitExtensionPath ?? "").split(separator: ":").map { absolute(String($0)) }
    }

    /// The folders that are searched for extensions.
    package var extensionSearchPath: [String] {
        let explicit = explicitExtensionPath.map { _ in explicitExtensionFolders.joined(separator: ":") }
        return ExtensionRegistry.standardSearchPath(explicit: explicit, environment: environment)
    }

    /// The installed extensions, without opening a store.
    package var registry: ExtensionRegistry {
        let cache = RegistryCache(
            path: SearchlightEngine.registryCachePath(storeDirectory: storeDirectory), isWritable: false)
        return ExtensionRegistry(searchPath: extensionSearchPath, cache: cache)
    }

    /// The folder for the user's own extensions.
    package var userExtensionFolder: String { ExtensionRegistry.userDirectory(environment: environment) }

    /// Registers the types that extensions declare with this process.
    package func registerTypes() { registry.registerTypes() }

    /// Returns the engine configuration for this store and these extensions.
    package func engineConfiguration(_ access: EngineConfiguration.Access) throws(CommandFailure) -> EngineConfiguration
    {
        try checkStore(access)
        let installation = Installation(environment: environment)
        var configuration = EngineConfiguration(
            storeDirectory: storeDirectory, access: access,
            extensionSearchPath: extensionSearchPath,
            worker: WorkerConfiguration(
                workerPath: installation.workerPath, frameworkFolder: installation.frameworkFolder,
                environment: environment, sandbox: WorkerConfiguration.SandboxMode(environment: environment)))
        configuration.tracksExtensions = true
        configuration.bootClock = .system
        return configuration
    }
}

extension GlobalOptions {
    /// Distinguishes a store that cannot be accessed from one that does not exist.
    private func checkStore(_ access: EngineConfiguration.Access) throws(CommandFailure) {
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: storeDirectory, isDirectory: &isFolder), !isFolder.boolValue {
            throw CommandFailure(
                message: "The store at \(storeDirectory) cannot be opened: it is a file. Name the folder of a store.",
                status: .inputOutput)
        }
        let mode = access == .readOnly ? R_OK : R_OK | W_OK
        for (path, mode) in [(storeDirectory, mode | X_OK), (storeDirectory + "/index.sqlite", mode)]
        where Glibc.access(path, mode) != 0 && errno != ENOENT {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(
                message: """
                    The store at \(storeDirectory) cannot be opened: \(path): \(reason.lowercased()). Check who owns it, \
                    or name another store with --store.
                    """,
                status: .inputOutput)
        }
    }
}

/// Returns the absolute path for a path relative to the working directory.
package func absolute(_ path: String) -> String { URL(filePath: path).standardizedFileURL.path }
