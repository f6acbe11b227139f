// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import ExtensionHost
import IdleScheduling
import SearchlightEngine

/// The facts about a machine before they are evaluated. A part is `nil` if reading it exceeded the
/// time limit.
package struct MachineFacts: Sendable {
    /// The kernel.
    package var kernel: KernelFacts?
    /// The sensors.
    package var sensors: MonitorReport?
    /// The required programs and the configuration.
    package var programs: ProgramFacts?
    /// The index.
    package var store: StoreFacts?
    /// The service.
    package var service: ServiceStateFacts?
    /// Facts about the activation of the service.
    package var activation: ActivationFacts?
    /// The extensions.
    package var extensions: ExtensionFacts?
    /// The time limit for each part, in seconds.
    package var patience: Double
}

/// The kernel features that are available to this process.
package struct KernelFacts: Hashable, Sendable {
    /// The kernel release, such as `6.12.0`.
    var release: String
    /// The available sandbox protections.
    var protections: SandboxProtections
    /// The Landlock ABI version; 0 without Landlock.
    var landlockRevision: Int
    /// `true` if `SEARCHLIGHT_SANDBOX=off` is set.
    var isSandboxOff: Bool
    /// The results of probes on a separate thread.
    var abilities: KernelAbilities
    /// `kernel.yama.ptrace_scope`; `nil` without Yama.
    var tracingScope: Int?
    /// The soft limit on descriptors.
    var descriptorLimit: Int
    /// The reason why libseccomp cannot be used; `nil` if it can.
    var filterProblem: String?
}

/// The kernel features that were probed successfully.
package struct KernelAbilities: OptionSet, Hashable, Sendable {
    /// The bits defined in `csandbox.h`.
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    static let processHandles = Self(rawValue: 1 << 0)
    static let openBeneath = Self(rawValue: 1 << 1)
    static let folderWatch = Self(rawValue: 1 << 2)
    static let idleProcessor = Self(rawValue: 1 << 3)
    static let idleDisk = Self(rawValue: 1 << 4)
    static let all: Self = [.processHandles, .openBeneath, .folderWatch, .idleProcessor, .idleDisk]
}

/// The required programs and the configuration, without extensions.
package struct ProgramFacts: Hashable, Sendable {
    /// The version of this command.
    var version: String
    /// The path of the worker program; `isWorkerThere` is `true` if it is executable.
    var worker: String
    var isWorkerThere: Bool
    /// `true` if the Quick Look server is executable.
    var isQuickLookThere: Bool
    /// The folder of `libCoreSpotlight.so`; `nil` if there is none.
    var frameworkFolder: String?
    /// The optional programs found on the `PATH`.
    var found: Set<String>
    /// The error in the scheduling configuration file.
    var policyFailure: String?
    /// The parent folder of the workers' temporary folders.
    var workerFolder: FolderFacts
}

/// A folder, or its nearest existing parent.
package struct FolderFacts: Hashable, Sendable {
    var path: String
    /// `true` if the folder exists; otherwise ``nearest`` is its nearest existing parent.
    var exists: Bool
    var nearest: String
    var isFolder: Bool
    /// `true` if this process may create files in ``nearest``.
    var isWritable: Bool
    /// The owner and the mode of ``nearest``.
    var owner: UInt32
    var mode: UInt32
    /// The user of this process.
    var user: UInt32
}

/// Facts about the index that are read without opening it.
package struct StoreFacts: Hashable, Sendable {
    var folder: FolderFacts
    /// The owner and mode of the database; `nil` if there is none.
    var database: FileFacts?
    /// The mount of the store; `nil` if unknown.
    var mount: Mount?
    /// The disk scheduler, such as `mq-deadline`; `nil` if unknown.
    var diskScheduler: String?
    /// The free space in bytes; `nil` if unknown.
    var free: UInt64?
    /// The free space in bytes below which no background work starts.
    var floor: UInt64
    /// The marks in the store's folder about the index.
    var marks = StoreMarks()
}

/// The owner and mode of a file.
package struct FileFacts: Hashable, Sendable {
    var owner: UInt32
    var mode: UInt32
}

/// The store's service.
package struct ServiceStateFacts: Hashable, Sendable {
    /// The listener on its socket.
    enum Listener: Hashable, Sendable {
        /// There is no socket.
        case noSocket
        /// There is a socket but no listener.
        case nobody
        /// The service is listening.
        case service(process: Int32)
        /// Another process is listening: systemd, which starts the service.
        case other
    }
    /// The service's answer.
    enum Answer: Hashable, Sendable {
        case facts(ServiceFacts)
        case failure(String)
    }
    var listener: Listener
    /// The answer; `nil` if the service is not running, because asking could start it.
    var answer: Answer?
    var descriptorLimit: Int?
    /// `true` if the service's program file has been replaced since it started.
    var isReplaced: Bool
}

/// Facts about the activation of the service.
package struct ActivationFacts: Hashable, Sendable {
    /// A systemd unit or D-Bus service file: its path, and the program that it starts.
    struct Unit: Hashable, Sendable {
        var path: String
        var program: String?
        var isProgramThere: Bool
    }
    /// The first `searchlightd.service` that systemd finds.
    var service: Unit?
    /// The first `searchlightd.socket` that systemd finds.
    var socket: Unit?
    var isSocketEnabled: Bool
    /// `true` if the service starts with each session.
    var isServiceEnabled: Bool
    /// The path in the socket unit; `nil` if unknown, for example because a drop-in may change it.
    var listens: String?
    /// The socket path of the store in use.
    var wanted: String
    var busFile: Unit?
    /// The session bus.
    enum Bus: Hashable, Sendable {
        /// There is no address.
        case absent
        /// The connection failed.
        case failed(String)
        /// The connection succeeded. `startsService` is `true` if the bus can start the service.
        case reached(startsService: Bool)
    }
    var bus: Bus
    /// The user's runtime folder (`XDG_RUNTIME_DIR`); `nil` if the variable is unset.
    var runtimeFolder: FolderFacts?
    /// `true` if systemd is the machine's init system.
    var hasSystemd: Bool
}

/// The extensions, according to their manifests, and their health records.
package struct ExtensionFacts: Hashable, Sendable {
    struct Extension: Hashable, Sendable {
        var identifier: String
        /// The required shared libraries that are not installed.
        var missingLibraries: [String]
        /// The bindings for which none of the alternative libraries is installed.
        var missingChoices: [String]
        /// The library's Swift compiler, if it differs from the compiler of Searchlight's library.
        var otherCompiler: String?
        var isDisabled: Bool
        /// The reason for the extension's quarantine.
        var quarantine: String?
        var itemsSetAside: Int
        var warnings: [String]
    }
    struct Refusal: Hashable, Sendable {
        var path: String
        var reason: String
        /// `true` if another bundle with the same name takes precedence.
        var isShadowed: Bool
    }
    var searchPath: [String]
    var extensions: [Extension]
    var refusals: [Refusal]
    /// `true` if the health records cannot be read.
    var isHealthDamaged: Bool
}
