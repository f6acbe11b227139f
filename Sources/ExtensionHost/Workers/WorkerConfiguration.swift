// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import SystemSupport

/// The workers' program, environment, limits and sandbox.
public struct WorkerConfiguration: Sendable {
    /// The absolute path of the `searchlight-worker` program.
    public var workerPath: String
    /// The absolute path of the folder that contains `libCoreSpotlight.so`; `nil` if extensions
    /// find the library by themselves. It is searched before the paths in the extension, so that
    /// all extensions use the host's copy.
    public var frameworkFolder: String?
    /// The host's environment variables. A worker only receives those in ``passedVariables``.
    public var environment: [String: String]
    /// The time limits.
    public var limits: Limits
    /// The clock that measures the limits.
    public var clock: any Clock<Duration>
    /// Loads the extension into this process, at the other end of a connection, without any
    /// protection, for debuggers. `nil` to start a separate process.
    public var startInProcess: (@Sendable (OwnedDescriptor) throws(BusError) -> Void)?
    /// The enforcement of the access that manifests declare.
    public var sandbox: SandboxMode
    /// The folder in which each worker gets its own writable folder (`TMPDIR`); `nil` for none. By
    /// default a folder below the user's cache folder.
    public var temporaryFolder: String?
    /// Folders that no extension can access, regardless of its declarations. They include the store
    /// with all apps' donations. By default they include Searchlight's own folders, which contain
    /// files that lead a browser to the page.
    public var protectedFolders: [String]
    /// Folders that no extension can write to, regardless of its declarations, because the host
    /// trusts their content: the folders that contain extensions. An extension that could write
    /// there could grant itself any access.
    public var trustedFolders: [String] = []
    /// `true` if workers report, with each reply, the number of heap bytes that the libraries used
    /// by bindings have not freed. Counting slows down every call, so only the validator sets it.
    public var countsLibraryMemory = false
    /// Called for each worker before it loads its extension; returns whether to record or replay
    /// its calls. `nil` for neither. Only “searchlight extensions record” and “replay” set it.
    package var onBoundary: (@Sendable () throws(ExtensionError) -> BoundaryRequest)?
    /// The number of items that are sufficient in a reindex of everything; 0 for all. A worker
    /// receives it in the environment variable ``sampleVariable``. Only the validator sets it.
    public var sampleItems = 0
    /// The name of the environment variable for ``sampleItems``.
    public static let sampleVariable = "SEARCHLIGHT_SAMPLE_ITEMS"

    /// The requested protections. Tests omit some to simulate an older kernel.
    package var protections = SandboxProtections.all
    package var hasBackgroundSessions = true

    /// Creates a configuration.
    public init(
        workerPath: String, frameworkFolder: String?, environment: [String: String], limits: Limits = Limits(),
        clock: any Clock<Duration> = ContinuousClock(), sandbox: SandboxMode = .enforced
    ) {
        self.workerPath = workerPath
        self.frameworkFolder = frameworkFolder
        self.environment = environment
        self.limits = limits
        self.clock = clock
        self.sandbox = sandbox
        temporaryFolder = UserFolders(environment: environment).map { $0.cache + "/searchlight/workers" }
        protectedFolders = Self.ownFolders(environment: environment)
    }

    /// Returns Searchlight's private folders for short-lived files, in `$XDG_RUNTIME_DIR` and in
    /// the cache folder, in this order, if the environment names them. No declaration grants access
    /// to them, except to the worker's own ``temporaryFolder``.
    package static func ownFolders(environment: [String: String]) -> [String] {
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap(UserFolders.absolute)
        return [runtime, UserFolders(environment: environment)?.cache].compactMap { $0.map { $0 + "/searchlight" } }
    }

    /// The enforcement of the sandbox.
    public enum SandboxMode: String, Sendable, Codable {
        /// All protections that the kernel supports. ``SandboxReport`` lists the missing ones.
        case enforced
        /// No protection: an extension may do anything that the user may do. Only for debugging
        /// extensions.
        case off

        /// The environment variable that turns the sandbox off if its value is `off`.
        public static let variable = "SEARCHLIGHT_SANDBOX"

        /// Reads the variable. Any value other than `off` means enforcement.
        public init(environment: [String: String]) {
            self = environment[Self.variable] == Self.off.rawValue ? .off : .enforced
        }
    }

    /// The variables that a worker needs to find the user's files, language and time zone. It
    /// receives no others.
    static let passedVariables: Set<String> = [
        "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
    ]

    /// The folders in which workers search for libraries, in addition to the system's folders.
    var libraryFolders: [String] {
        // An empty entry would mean the current folder.
        let inherited = (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
        return ([frameworkFolder].compactMap { $0 } + inherited).filter { $0.hasPrefix("/") }
    }

    func workerEnvironment(_ temporaryFolder: String?, allowsNetwork: Bool = false) -> [String] {
        var variables = environment.filter { Self.passedVariables.contains($0.key) || $0.key.hasPrefix("LC_") }
        // The Swift runtime's crash reporter would start a process and read all of the memory. The
        // frame list is enough.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        // Each additional malloc arena reserves 64 MiB of the worker's address space.
        variables["MALLOC_ARENA_MAX"] = "2"
        // Otherwise libdispatch would log over a socket, which is denied, that it may not raise its
        // priority.
        variables["LIBDISPATCH_LOG"] = "NO"
        // The home folder for Foundation. Otherwise Foundation queries the user database over a
        // socket, which is denied, and uses a folder that differs from the manifest's paths.
        if let home = variables["HOME"], home.hasPrefix("/") { variables["CFFIXED_USER_HOME"] = home }
        // Name servers are queried over TCP, the only transport that a worker has.
        if allowsNetwork { variables["RES_OPTIONS"] = "use-vc" }
        if sampleItems > 0 { variables[Self.sampleVariable] = "\(sampleItems)" }
        if countsLibraryMemory { variables["SEARCHLIGHT_COUNT_LIBRARY_MEMORY"] = "1" }
        if let temporaryFolder { variables["TMPDIR"] = temporaryFolder }
        let libraryFolders = libraryFolders
        if !libraryFolders.isEmpty { variables["LD_LIBRARY_PATH"] = libraryFolders.joined(separator: ":") }
        return variables.map { "\($0.key)=\($0.value)" }.sorted()
    }
}
