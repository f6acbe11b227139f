// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// What can hold a worker back.
public struct SandboxProtections: OptionSet, Hashable, Sendable, Codable {
    /// The bits of `csandbox_policy.h`.
    public let rawValue: UInt32
    /// Creates a set of these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No new privileges, and no capabilities.
    public static let privileges = Self(rawValue: 1 << 0)
    /// Memory, sizes of files, descriptors.
    public static let limits = Self(rawValue: 1 << 1)
    /// Files that were not granted (Landlock).
    public static let files = Self(rawValue: 1 << 2)
    /// Truncating them (Landlock, kernel 6.2).
    public static let truncation = Self(rawValue: 1 << 3)
    /// TCP (Landlock, kernel 6.7).
    public static let tcp = Self(rawValue: 1 << 4)
    /// The control of devices (Landlock, kernel 6.10).
    public static let devices = Self(rawValue: 1 << 5)
    /// Signals to others and sockets without a name in the file system (Landlock, kernel 6.12).
    public static let scopes = Self(rawValue: 1 << 6)
    /// Memory that was written cannot become code (kernel 6.3).
    public static let code = Self(rawValue: 1 << 7)
    /// The filter of system calls (seccomp).
    public static let systemCalls = Self(rawValue: 1 << 8)
    /// The host is told what was refused (seccomp, kernel 5.5).
    public static let telling = Self(rawValue: 1 << 9)
    /// The worker ends with its host.
    public static let endWithHost = Self(rawValue: 1 << 10)

    /// Other processes are hidden: the host opens files in `/proc` for the worker (seccomp, kernel 5.19).
    public static let processes = Self(rawValue: 1 << 11)

    /// Everything.
    public static let all: Self = [
        .privileges, .limits, .files, .truncation, .tcp, .devices, .scopes, .code, .systemCalls, .telling, .endWithHost,
        .processes,
    ]

    /// What each does, as "the kernel does not …" would end, in order.
    public var names: [String] {
        let table: [(Self, String)] = [
            (.privileges, "take away privileges"), (.limits, "limit memory, files and descriptors"),
            (.files, "confine files (Landlock, Linux 5.13)"), (.truncation, "confine truncation (Landlock, Linux 6.2)"),
            (.tcp, "confine TCP (Landlock, Linux 6.7)"), (.devices, "confine devices (Landlock, Linux 6.10)"),
            (.scopes, "confine signals and abstract sockets (Landlock, Linux 6.12)"),
            (.code, "forbid code made at run time (Linux 6.3)"), (.systemCalls, "filter system calls (seccomp)"),
            (.telling, "tell what was refused (seccomp, Linux 5.5)"), (.endWithHost, "end workers with their host"),
            (.processes, "hide other processes (seccomp, Linux 5.19)"),
        ]
        return table.filter { contains($0.0) }.map(\.1)
    }

    /// What this kernel has, and the revision of its Landlock, 0 for none.
    public static func available() -> (protections: Self, landlockRevision: Int) {
        var revision: UInt32 = 0
        let available = csandbox_available(&revision)
        return (Self(rawValue: available), Int(revision))
    }
}

/// What a worker was confined by, as it reported itself before it loaded anything.
public struct SandboxReport: Hashable, Sendable, Codable {
    /// What holds it back.
    public var applied: SandboxProtections
    /// What was wanted and this kernel lacks.
    public var missing: SandboxProtections
    /// The revision of the kernel's Landlock; 0 for none.
    public var landlockRevision: Int
    /// How many paths were granted, its own and the system's among them.
    public var granted: Int
    /// How many of those were not there.
    public var absent: Int
    /// What was declared and withheld, each with the reason.
    public var withheld: [Withheld]
    /// What makes it give way to everybody else; `nil` for a worker that a person waits for.
    public var background: BackgroundMeasures?
    /// What was to, and this kernel lacks or refuses; `nil` likewise.
    public var backgroundMissing: BackgroundMeasures?

    /// How many of these are told.
    static let maximumWithheld = 32

    /// A path that the manifest declares and the extension does not get.
    public struct Withheld: Hashable, Sendable, Codable {
        /// As the manifest has it, or as the person wrote it.
        public var path: String
        /// The rest of "… because".
        public var reason: String
    }

    init(_ report: csandbox_report, policy: SandboxPolicy) {
        applied = SandboxProtections(rawValue: report.applied)
        missing = SandboxProtections(rawValue: report.missing)
        landlockRevision = Int(report.landlock_revision)
        granted = Int(report.granted)
        absent = Int(report.absent)
        if !policy.background.isEmpty {
            background = BackgroundMeasures(rawValue: report.idle_applied)
            backgroundMissing = BackgroundMeasures(rawValue: report.idle_missing)
        }
        withheld = policy.withheld.prefix(Self.maximumWithheld).map { withheld in
            Withheld(path: String(withheld.path.prefix(256)), reason: String(withheld.reason.prefix(256)))
        }
        if policy.allowsNetwork, !applied.contains(.telling) {
            withheld.append(
                Withheld(
                    path: "AllowsNetwork",
                    reason: "this kernel cannot ask the host to which addresses the extension connects (Linux 5.6)"))
        }
        if report.unsafe > 0 {
            withheld.append(
                Withheld(
                    path: "\(report.unsafe) of its paths",
                    reason: "links came to be on the way to them while the worker was started"))
        }
    }
}

/// What an extension tried and the kernel refused.
public struct SandboxRefusal: Hashable, Sendable, Codable, CustomStringConvertible {
    /// What sort of thing it is.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// To read a file or list a folder.
        case read
        /// To make, change, move or delete a file.
        case write
        /// To change the mode, owner, dates or attributes of a file.
        case permissions
        /// To run a program.
        case program
        /// To start a process.
        case process
        /// To use a socket.
        case network
        /// To send a signal to somebody else.
        case signal
        /// To look into or change another process.
        case inspection
        /// To get more memory than it may have, or memory that no limit counts.
        case memory
        /// To go beyond a limit of the sandbox that is not of memory.
        case limit
        /// Something else that is no business of an extension's.
        case kernel
    }
    /// What sort of thing it was.
    public var kind: Kind
    /// What exactly, as the rest of a sentence after ``Kind``'s verb; from the worker, so not to be trusted.
    public var detail: String
    /// What would have to be different for it to be allowed; `nil` for what follows from ``kind``.
    public var remedy: Remedy?
    /// How often, since the last time it was told.
    public var count: Int

    /// What somebody can do about a refusal.
    public enum Remedy: String, Hashable, Sendable, Codable, CaseIterable {
        /// Nothing: no extension may do that.
        case none
        /// Declare it in the manifest, below `Searchlight`.
        case readablePaths, writablePaths, allowsNetwork, memoryLimit
        /// Write into the worker's own temporary folder.
        case temporaryFolder
        /// Have the folder made before the worker starts: it is declared.
        case madeBefore
        /// Connect to other machines: this one is closed, whatever the manifest declares.
        case otherMachines
        /// Use TCP: the manifest allows the network, and that grants nothing else.
        case tcpAlone
        /// Connect to others: the manifest allows the network, and nobody may be a server.
        case noServers
    }

    /// The longest detail, in bytes.
    public static let maximumDetailBytes = 512

    /// Creates a refusal; a longer detail is cut.
    public init(_ kind: Kind, _ detail: String, count: Int = 1, remedy: Remedy? = nil) {
        self.kind = kind
        self.detail =
            detail.utf8.count <= Self.maximumDetailBytes
            ? detail : String(decoding: detail.utf8.prefix(Self.maximumDetailBytes), as: UTF8.self) + "…"
        self.count = count
        self.remedy = remedy
    }

    /// What would have to be different for it to be allowed.
    public var whatToDo: Remedy {
        if let remedy { return remedy }
        switch kind {
        case .read: return .readablePaths
        case .write:
            let isTemporary = ["/tmp/", "/var/tmp/", "/dev/shm/"].contains { detail.hasPrefix($0) }
            return isTemporary ? .temporaryFolder : .writablePaths
        // No other sockets can be granted.
        case .network: return detail.contains("inet") ? .allowsNetwork : .none
        case .memory: return detail.hasPrefix("more than") ? .memoryLimit : .none
        case .permissions, .program, .process, .signal, .inspection, .limit, .kernel: return .none
        }
    }

    /// The rest of a sentence about it: what would have to be different, or nothing.
    public var advice: String {
        switch whatToDo {
        case .none: ""
        case .readablePaths: ", which ReadablePaths in its Info.plist does not grant"
        case .writablePaths: ", which WritablePaths in its Info.plist does not grant"
        case .allowsNetwork: ", which AllowsNetwork in its Info.plist does not grant"
        case .memoryLimit: ", which MemoryLimit in its Info.plist does not grant"
        case .temporaryFolder: ", which is for everybody; a worker has a folder of its own for such files, $TMPDIR"
        case .madeBefore:
            ", which it declares and which was not there when its worker started; its app or its installer makes it"
        case .otherMachines:
            ", an address of this machine, which is closed to extensions; AllowsNetwork is for other machines"
        case .tcpAlone: ", which AllowsNetwork does not grant; it is for TCP"
        case .noServers: ", which AllowsNetwork does not grant; it is for connecting to others"
        }
    }

    /// What was tried: "tried to read /etc/shadow".
    public var description: String {
        switch kind {
        case .read: "tried to read \(detail)"
        case .write: "tried to change \(detail)"
        case .permissions: "tried to change permissions, dates or attributes of \(detail)"
        case .program: "tried to run the program \(detail)"
        case .process: "tried to start a process (\(detail))"
        case .network: "tried to use the network (\(detail))"
        case .signal: "tried to send a signal to \(detail)"
        case .inspection: "tried to reach \(detail)"
        case .memory: "tried to get memory (\(detail))"
        case .limit: "tried to go beyond a limit (\(detail))"
        case .kernel: "tried to call \(detail)"
        }
    }
}
