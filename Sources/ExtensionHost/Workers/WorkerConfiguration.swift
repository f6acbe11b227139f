// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ServiceMessages
import SystemSupport

/// The program, environment, limits and sandbox of workers.
public struct WorkerConfiguration: Sendable {
    /// The absolute path of the `searchlight-worker` program.
    public var workerPath: String
    /// The absolute path of the folder with `libCoreSpotlight.so`; `nil` if extensions find it by
    /// themselves. It is searched before the paths in the extension, so that all extensions use the
    /// host's copy.
    public var frameworkFolder: String?
    /// The environment variables of the host. A worker only gets those in ``passedVariables``.
    public var environment: [String: String]
    /// The time limits.
    public var limits: Limits
    /// The clock that measures the limits.
    public var clock: any Clock<Duration>
    /// Loads the extension into this process, at the other end of a connection, without any
    /// protection, for debuggers. `nil` to start a process.
    public var startInProcess: (@Sendable (OwnedDescriptor) throws(BusError) -> Void)?
    /// The enforcement of the access that manifests declare.
    public var sandbox: SandboxMode
    /// The folder below which each worker gets a writable folder of its own (`TMPDIR`); `nil` for
    /// none. By default below the user's cache folder.
    public var temporaryFolder: String?
    /// Folders that no extension can access, whatever it declares. They include the store with the
    /// donations of all apps. By default they include Searchlight's own folders, whose files lead a
    /// browser to the page.
    public var protectedFolders: [String]
    /// Folders that no extension can write, whatever it declares, because the host trusts their
    /// content: the folders with extensions. An extension that could write there could grant itself
    /// any access.
    public var trustedFolders: [String] = []
    /// `true` if workers report, with each answer, the heap bytes that the libraries of bindings
    /// keep. Counting slows down every call, so only the validator sets it.
    public var countsLibraryMemory = false
    /// Called for each worker before it loads its extension: the recording or the replay of its
    /// calls. `nil` for neither. Only “searchlight extensions record” and “replay” set it.
    package var onBoundary: (@Sendable () throws(ExtensionError) -> BoundaryRequest)?
    /// The number of items that are enough in a reindex of everything; 0 for all. A worker finds it
    /// in the environment variable ``sampleVariable``. Only the validator sets it.
    public var sampleItems = 0
    /// The name of the environment variable for ``sampleItems``.
    public static let sampleVariable = "SEARCHLIGHT_SAMPLE_ITEMS"

    /// The requested protections. Tests leave some out to simulate an older kernel.
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
    /// the cache folder, in this order, as far as the environment names them. No declaration grants
    /// access to them, except for the worker's own ``temporaryFolder``.
    package static func ownFolders(environment: [String: String]) -> [String] {
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap(UserFolders.absolute)
        return [runtime, UserFolders(environment: environment)?.cache].compactMap { $0.map { $0 + "/searchlight" } }
    }

    /// The enforcement of the sandbox.
    public enum SandboxMode: String, Sendable, Codable {
        /// All protections of the kernel. ``SandboxReport`` lists those that the kernel lacks.
        case enforced
        /// No protection: an extension may do whatever its user may. Only for debugging extensions.
        case off

        /// The environment variable that turns the sandbox off if its value is `off`.
        public static let variable = "SEARCHLIGHT_SANDBOX"

        /// Reads the variable. Any other value than `off` means enforcement.
        public init(environment: [String: String]) {
            self = environment[Self.variable] == Self.off.rawValue ? .off : .enforced
        }
    }

    /// The variables that a worker needs to find the user's files, language and time zone. It gets
    /// no others.
    static let passedVariables: Set<String> = [
        "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
    ]

    /// The folders in which workers search for libraries, besides the system's.
    var libraryFolders: [String] {
        // An empty entry would mean the current folder.
        let inherited = (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
        return ([frameworkFolder].compactMap { $0 } + inherited).filter { $0.hasPrefix("/") }
    }

    func workerEnvironment(_ temporaryFolder: String?, allowsNetwork: Bool = false) -> [String] {
        var variables = environment.filter { Self.passedVariables.contains($0.key) || $0.key.hasPrefix("LC_") }
        // The crash reporter of the Swift runtime would start a process and read all of memory. The
        // frame list is enough.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        // Each further arena of malloc reserves 64 MiB of the worker's address space.
        variables["MALLOC_ARENA_MAX"] = "2"
        // libdispatch would log over a socket, which is denied, that it may not raise its priority.
        variables["LIBDISPATCH_LOG"] = "NO"
        // Foundation's home folder. Otherwise Foundation queries the user database over a socket,
        // which is denied, and gets a folder that differs from the manifest's paths.
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
