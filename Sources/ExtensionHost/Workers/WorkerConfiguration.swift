// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SystemSupport

/// How workers are started and how long they may take.
public struct WorkerConfiguration: Sendable {
    /// The `searchlight-worker` program, absolute.
    public var workerPath: String
    /// The folder of `libCoreSpotlight.so`, absolute; `nil` leaves it to the extension to find it. It is searched before
    /// the places an extension names itself, so that all extensions use the host's copy.
    public var frameworkFolder: String?
    /// The variables the host was started with; a worker gets only those in ``passedVariables``.
    public var environment: [String: String]
    /// The time limits.
    public var limits: Limits
    /// What measures them.
    public var clock: any Clock<Duration>
    /// Loads the extension into this process instead of one of its own, at the other end of a connection: for a debugger,
    /// and without any protection. `nil` for a process.
    public var startInProcess: (@Sendable (OwnedDescriptor) throws(BusError) -> Void)?
    /// Whether workers are held to what their manifests declare.
    public var sandbox: SandboxMode
    /// Below which folder each worker gets one of its own to write (`TMPDIR`); `nil` gives none. By default below the
    /// user's cache folder.
    public var temporaryFolder: String?
    /// Folders that no extension reaches, whatever it declares: the store, with what all apps donated, and by default
    /// Searchlight's own folders, with the files that lead a browser to the page.
    public var protectedFolders: [String]
    /// Folders that no extension changes, whatever it declares, since the host believes what is there: where extensions are
    /// found. One that could write there would give itself, or another, whatever it likes.
    public var trustedFolders: [String] = []
    /// Whether workers count what the libraries of bindings keep of the heap, and report it with each answer. It makes each call slower,
    /// so only the validator asks for it.
    public var countsLibraryMemory = false
    /// How many items a worker's extension is asked for at most, in ``sampleVariable``; 0 for all. Only the validator wants a sample.
    public var sampleItems = 0
    /// The variable of a worker's environment for ``sampleItems``.
    public static let sampleVariable = "SEARCHLIGHT_SAMPLE_ITEMS"

    /// What is asked of the kernel; tests leave something out to be as on a kernel without it.
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

    /// The folders in which Searchlight keeps what is short-lived and nobody else's: in `$XDG_RUNTIME_DIR` and in the cache
    /// folder, in this order, as far as the environment names them. No extension reaches them by declaring them; the
    /// worker's own ``temporaryFolder`` aside.
    package static func ownFolders(environment: [String: String]) -> [String] {
        let runtime = environment["XDG_RUNTIME_DIR"].flatMap(UserFolders.absolute)
        return [runtime, UserFolders(environment: environment)?.cache].compactMap { $0.map { $0 + "/searchlight" } }
    }

    /// How workers are held back.
    public enum SandboxMode: String, Sendable, Codable {
        /// By everything that the kernel has. Where it lacks something, ``SandboxReport`` says so.
        case enforced
        /// Not at all: an extension may do what its user may. For debugging extensions only.
        case off

        /// The variable of the command's environment that switches the sandbox off, and the value that does.
        public static let variable = "SEARCHLIGHT_SANDBOX"

        /// What a variable of the command's environment says; anything but `off` is enforcement.
        public init(environment: [String: String]) {
            self = environment[Self.variable] == Self.off.rawValue ? .off : .enforced
        }
    }

    /// The variables a worker needs to find the user's files, language and time zone. Nothing else of the environment
    /// is any business of an extension's.
    static let passedVariables: Set<String> = [
        "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
    ]

    /// The folders in which workers look for libraries besides the system's.
    var libraryFolders: [String] {
        // An empty entry would mean the current folder.
        let inherited = (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
        return ([frameworkFolder].compactMap { $0 } + inherited).filter { $0.hasPrefix("/") }
    }

    func workerEnvironment(_ temporaryFolder: String?, allowsNetwork: Bool = false) -> [String] {
        var variables = environment.filter { Self.passedVariables.contains($0.key) || $0.key.hasPrefix("LC_") }
        // The runtime's crash reporter would start a process and read all of memory; its plain frame list is enough.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        // Each further arena of malloc reserves 64 MiB of the address space that a worker may have.
        variables["MALLOC_ARENA_MAX"] = "2"
        // libdispatch would write to the system's log that it may not raise its priority, over a socket it may not have.
        variables["LIBDISPATCH_LOG"] = "NO"
        // Foundation's home folder: else it asks the list of users, over a socket that a worker may not have, and gets
        // another folder than what the manifest's paths mean.
        if let home = variables["HOME"], home.hasPrefix("/") { variables["CFFIXED_USER_HOME"] = home }
        // Name servers are asked over TCP, the only transport that a worker has.
        if allowsNetwork { variables["RES_OPTIONS"] = "use-vc" }
        if sampleItems > 0 { variables[Self.sampleVariable] = "\(sampleItems)" }
        if countsLibraryMemory { variables["SEARCHLIGHT_COUNT_LIBRARY_MEMORY"] = "1" }
        if let temporaryFolder { variables["TMPDIR"] = temporaryFolder }
        let libraryFolders = libraryFolders
        if !libraryFolders.isEmpty { variables["LD_LIBRARY_PATH"] = libraryFolders.joined(separator: ":") }
        return variables.map { "\($0.key)=\($0.value)" }.sorted()
    }
}
