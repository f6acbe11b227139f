// SPDX-License-Identifier: Apache-2.0

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

    /// Creates a configuration.
    public init(
        workerPath: String, frameworkFolder: String?, environment: [String: String], limits: Limits = Limits(),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.workerPath = workerPath
        self.frameworkFolder = frameworkFolder
        self.environment = environment
        self.limits = limits
        self.clock = clock
    }

    /// How long a worker may take. An extension makes progress by donating, deleting or logging.
    public struct Limits: Sendable {
        /// For loading the library and creating the extension.
        public var load: Duration = .seconds(5)
        /// For a promise or a preview: a person is waiting.
        public var answer: Duration = .seconds(10)
        /// Without any progress during a reindex.
        public var progress: Duration = .seconds(10)
        /// For a reindex as a whole.
        public var reindex: Duration = .seconds(1800)

        /// The limits of the design (its section 4.4).
        public init() {}
    }

    /// The variables a worker needs to find the user's files, language and time zone. Nothing else of the environment
    /// is any business of an extension's.
    static let passedVariables: Set<String> = [
        "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME",
        "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_DIRS",
    ]

    var workerEnvironment: [String] {
        var variables = environment.filter { Self.passedVariables.contains($0.key) || $0.key.hasPrefix("LC_") }
        // The runtime's crash reporter would start a process and read all of memory; its plain frame list is enough.
        variables["SWIFT_BACKTRACE"] = "enable=no"
        // An empty entry would mean the current folder.
        let inherited = (environment["LD_LIBRARY_PATH"] ?? "").split(separator: ":").map(String.init)
        let libraryFolders = ([frameworkFolder].compactMap { $0 } + inherited).filter { $0.hasPrefix("/") }
        if !libraryFolders.isEmpty { variables["LD_LIBRARY_PATH"] = libraryFolders.joined(separator: ":") }
        return variables.map { "\($0.key)=\($0.value)" }.sorted()
    }
}
