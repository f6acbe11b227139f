// SPDX-License-Identifier: Apache-2.0
import ConditionSensors
import ExtensionHost
import IdleScheduling
import SearchlightEngine

/// What a look at the machine found, before anything is said of it. A part is `nil` if looking at it did not end in time.
package struct MachineFacts: Sendable {
    /// What the kernel does.
    package var kernel: KernelFacts?
    /// Which sensors there are.
    package var sensors: MonitorReport?
    /// What is called and installed.
    package var programs: ProgramFacts?
    /// The index.
    package var store: StoreFacts?
    /// The service.
    package var service: ServiceStateFacts?
    /// What starts the service.
    package var activation: ActivationFacts?
    /// The extensions.
    package var extensions: ExtensionFacts?
    /// How long each part was waited for, in seconds.
    package var patience: Double
}

/// What the kernel does for this process.
package struct KernelFacts: Hashable, Sendable {
    /// Its release, such as `6.12.0`.
    var release: String
    /// What can hold a worker back.
    var protections: SandboxProtections
    /// The revision of Landlock; 0 for none.
    var landlockRevision: Int
    /// Whether `SEARCHLIGHT_SANDBOX=off` is set here.
    var isSandboxOff: Bool
    /// What was tried, on a thread of its own.
    var abilities: KernelAbilities
    /// `kernel.yama.ptrace_scope`; `nil` without Yama.
    var tracingScope: Int?
    /// The limit of descriptors, soft.
    var descriptorLimit: Int
}

/// What the kernel let this process do when it was tried.
package struct KernelAbilities: OptionSet, Hashable, Sendable {
    /// The bits of `csandbox.h`.
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    static let processHandles = Self(rawValue: 1 << 0)
    static let openBeneath = Self(rawValue: 1 << 1)
    static let folderWatch = Self(rawValue: 1 << 2)
    static let idleProcessor = Self(rawValue: 1 << 3)
    static let idleDisk = Self(rawValue: 1 << 4)
    static let all: Self = [.processHandles, .openBeneath, .folderWatch, .idleProcessor, .idleDisk]
}

/// What is called and installed besides extensions.
package struct ProgramFacts: Hashable, Sendable {
    /// The version of this command.
    var version: String
    /// The program of workers, and whether it can be run.
    var worker: String
    var isWorkerThere: Bool
    /// Whether the program of the page can be run.
    var isQuickLookThere: Bool
    /// The folder of `libCoreSpotlight.so`; `nil` if there is none.
    var frameworkFolder: String?
    /// Programs that are called and on the `PATH`.
    var found: Set<String>
    /// What is wrong with the file of scheduling constants.
    var policyFailure: String?
    /// What is wrong with the folder below which workers get theirs, as it reads after its path.
    var workerFolder: FolderFacts
}

/// A folder, or the one in which it would be made.
package struct FolderFacts: Hashable, Sendable {
    var path: String
    /// Whether it is there; else ``nearest`` is what is there above it.
    var exists: Bool
    var nearest: String
    var isFolder: Bool
    /// Whether this process may make something in ``nearest``.
    var isWritable: Bool
    /// Who owns ``nearest``, and its mode.
    var owner: UInt32
    var mode: UInt32
    /// Who this process is.
    var user: UInt32
}

/// The index, without opening it.
package struct StoreFacts: Hashable, Sendable {
    var folder: FolderFacts
    /// Whether there is a database, and who else may do something with it.
    var database: FileFacts?
    /// The file system, as the kernel's table of mounts has it; `nil` if that does not tell.
    var mount: Mount?
    /// How the disk orders requests, `mq-deadline` for instance; `nil` if that is not told.
    var diskScheduler: String?
    /// How much is free, in bytes; `nil` if that is not told.
    var free: UInt64?
    /// Below how much nothing is done in the background.
    var floor: UInt64
    /// What the folder tells of the index.
    var marks = StoreMarks()
}

/// A file's owner and mode.
package struct FileFacts: Hashable, Sendable {
    var owner: UInt32
    var mode: UInt32
}

/// The service of the store.
package struct ServiceStateFacts: Hashable, Sendable {
    /// Who is at its socket.
    enum Listener: Hashable, Sendable {
        /// There is no socket.
        case noSocket
        /// There is one that nobody listens at.
        case nobody
        /// The service does.
        case service(process: Int32)
        /// Somebody does who is not the service: systemd, which starts it.
        case other
    }
    /// What it said when it was asked.
    enum Answer: Hashable, Sendable {
        case facts(ServiceFacts)
        case failure(String)
    }
    var listener: Listener
    /// `nil` if it was not asked, since that would start it, or since none runs.
    var answer: Answer?
    var descriptorLimit: Int?
    /// Whether its program's file was replaced since it began.
    var isReplaced: Bool
}

/// What starts the service.
package struct ActivationFacts: Hashable, Sendable {
    /// A unit or D-Bus service file: where it is, and the program that it starts.
    struct Unit: Hashable, Sendable {
        var path: String
        var program: String?
        var isProgramThere: Bool
    }
    /// The first `searchlightd.service` that systemd finds.
    var service: Unit?
    /// The first `searchlightd.socket`.
    var socket: Unit?
    var isSocketEnabled: Bool
    /// Whether the service is started with a session.
    var isServiceEnabled: Bool
    /// Where the socket unit listens; `nil` if that is not told, or a drop-in may say otherwise.
    var listens: String?
    /// Where the service of the store in use would be listened for.
    var wanted: String
    var busFile: Unit?
    /// The session bus.
    enum Bus: Hashable, Sendable {
        /// There is no address.
        case absent
        /// It cannot be spoken with.
        case failed(String)
        /// It can; whether it would start the service.
        case reached(startsService: Bool)
    }
    var bus: Bus
    /// The user's folder of sockets (`XDG_RUNTIME_DIR`); `nil` if the variable is not set.
    var runtimeFolder: FolderFacts?
    /// Whether systemd runs this machine.
    var hasSystemd: Bool
}

/// The extensions, by their manifests, and what is held against them.
package struct ExtensionFacts: Hashable, Sendable {
    struct Extension: Hashable, Sendable {
        var identifier: String
        /// What of the shared libraries it needs is nowhere.
        var missingLibraries: [String]
        /// What of its bindings has none of the libraries that would do.
        var missingChoices: [String]
        /// The compiler it was built with, where that is another than that of Searchlight's library, and both are Swift.
        var otherCompiler: String?
        var isDisabled: Bool
        /// Why it is in quarantine.
        var quarantine: String?
        var itemsSetAside: Int
        var warnings: [String]
    }
    struct Refusal: Hashable, Sendable {
        var path: String
        var reason: String
        /// Whether another of the same name is used in its place.
        var isShadowed: Bool
    }
    var searchPath: [String]
    var extensions: [Extension]
    var refusals: [Refusal]
    /// Whether what is held against extensions cannot be read.
    var isHealthDamaged: Bool
}
