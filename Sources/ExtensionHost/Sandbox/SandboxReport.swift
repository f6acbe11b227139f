// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// The protections that confine a worker.
public struct SandboxProtections: OptionSet, Hashable, Sendable, Codable {
    /// The bits, with the values of `csandbox_policy.h`.
    public let rawValue: UInt32
    /// Creates a set from its bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// No new privileges and no capabilities.
    public static let privileges = Self(rawValue: 1 << 0)
    /// Limits on memory, file sizes and descriptors.
    public static let limits = Self(rawValue: 1 << 1)
    /// No access to ungranted files (Landlock).
    public static let files = Self(rawValue: 1 << 2)
    /// No truncation of ungranted files (Landlock, kernel 6.2).
    public static let truncation = Self(rawValue: 1 << 3)
    /// No TCP unless granted (Landlock, kernel 6.7).
    public static let tcp = Self(rawValue: 1 << 4)
    /// No device control operations (Landlock, kernel 6.10).
    public static let devices = Self(rawValue: 1 << 5)
    /// No signals to other processes and no abstract sockets (Landlock, kernel 6.12).
    public static let scopes = Self(rawValue: 1 << 6)
    /// No code in memory that was writable (kernel 6.3).
    public static let code = Self(rawValue: 1 << 7)
    /// A system call filter (seccomp).
    public static let systemCalls = Self(rawValue: 1 << 8)
    /// Reports of denials to the host (seccomp, kernel 5.5).
    public static let telling = Self(rawValue: 1 << 9)
    /// The worker exits with its host.
    public static let endWithHost = Self(rawValue: 1 << 10)

    /// No view of other processes: the host opens files in `/proc` for the worker (seccomp, kernel
    /// 5.19).
    public static let processes = Self(rawValue: 1 << 11)

    /// All protections.
    public static let all: Self = [
        .privileges, .limits, .files, .truncation, .tcp, .devices, .scopes, .code, .systemCalls, .telling, .endWithHost,
        .processes,
    ]

    /// The effect of each protection in the set, to complete "the kernel does not …", in bit order.
    public var names: [String] {
        let table: [(Self, String)] = [
            (.privileges, "drop privileges"), (.limits, "limit memory, files and descriptors"),
            (.files, "confine files (Landlock, Linux 5.13)"), (.truncation, "confine truncation (Landlock, Linux 6.2)"),
            (.tcp, "confine TCP (Landlock, Linux 6.7)"), (.devices, "confine devices (Landlock, Linux 6.10)"),
            (.scopes, "confine signals and abstract sockets (Landlock, Linux 6.12)"),
            (.code, "block code generated at run time (Linux 6.3)"), (.systemCalls, "filter system calls (seccomp)"),
            (.telling, "report refused attempts (seccomp, Linux 5.5)"), (.endWithHost, "end workers with their host"),
            (.processes, "hide other processes (seccomp, Linux 5.19)"),
        ]
        return table.filter { contains($0.0) }.map(\.1)
    }

    /// Returns the protections that this kernel supports, and the revision of its Landlock ABI, 0
    /// for none.
    public static func available() -> (protections: Self, landlockRevision: Int) {
        var revision: UInt32 = 0
        let available = csandbox_available(&revision)
        return (Self(rawValue: available), Int(revision))
    }
}

/// A worker's own report of its confinement, made before it loads any code.
public struct SandboxReport: Hashable, Sendable, Codable {
    /// The protections in effect.
    public var applied: SandboxProtections
    /// The requested protections that this kernel lacks.
    public var missing: SandboxProtections
    /// The revision of the kernel's Landlock ABI; 0 for none.
    public var landlockRevision: Int
    /// The number of granted paths, including the worker's own and the system's.
    public var granted: Int
    /// The number of granted paths that did not exist.
    public var absent: Int
    /// The declared paths that were not granted, with reasons.
    public var withheld: [DeniedPath]
    /// The background measures in effect; `nil` for an interactive worker.
    public var background: BackgroundMeasures?
    /// The background measures that this kernel lacks or rejects; `nil` for an interactive worker.
    public var backgroundMissing: BackgroundMeasures?

    /// The maximum number of reported paths.
    static let maximumWithheld = 32

    /// A declared path that is not granted.
    public struct DeniedPath: Hashable, Sendable, Codable {
        /// The path in the manifest, or the user's text in a list file.
        public var path: String
        /// The reason, to complete "… because".
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
            DeniedPath(path: String(withheld.path.prefix(256)), reason: String(withheld.reason.prefix(256)))
        }
        if policy.allowsNetwork, !applied.contains(.telling) {
            withheld.append(
                DeniedPath(
                    path: "AllowsNetwork",
                    reason: "this kernel cannot check the addresses of its connections (Linux 5.6)"))
        }
        if report.unsafe > 0 {
            withheld.append(
                DeniedPath(
                    path: "\(report.unsafe) of its paths",
                    reason: "links appeared in these paths during the start of the worker"))
        }
    }
}

/// A denied attempt by an extension.
public struct SandboxRefusal: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The kind of attempt.
    public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
        /// Reading a file or listing a folder.
        case read
        /// Creating, changing, moving or deleting a file.
        case write
        /// Changing the mode, owner, dates or attributes of a file.
        case permissions
        /// Running a program.
        case program
        /// Starting a process.
        case process
        /// Using a socket.
        case network
        /// Sending a signal to another process.
        case signal
        /// Inspecting or changing another process.
        case inspection
        /// Exceeding the memory limit, or requesting memory that no limit counts.
        case memory
        /// Exceeding a limit on a resource other than memory.
        case limit
        /// Any other system call that extensions may not make.
        case kernel
    }
    /// The kind of the attempt.
    public var kind: Kind
    /// The object of the attempt, worded so that it can follow the verb of ``Kind`` in a sentence.
    /// It comes from the worker and is not trusted.
    public var detail: String
    /// The change that would allow the attempt; `nil` to derive it from ``kind``.
    public var remedy: Remedy?
    /// The number of attempts since the last report.
    public var count: Int

    /// A remedy for a denial.
    public enum Remedy: String, Hashable, Sendable, Codable, CaseIterable {
        /// There is no remedy: no extension may do this.
        case none
        /// Declare the access in the manifest, under `Searchlight`.
        case readablePaths, writablePaths, allowsNetwork, memoryLimit
        /// Use the worker's own temporary folder.
        case temporaryFolder
        /// Create the declared folder before the worker starts.
        case madeBefore
        /// Connect to other machines. This machine's addresses are always denied.
        case otherMachines
        /// Use TCP. The manifest's network access includes no other protocol.
        case tcpAlone
        /// Connect to other machines. The manifest's network access does not include servers.
        case noServers
    }

    /// The maximum length of a detail, in bytes.
    public static let maximumDetailBytes = 512

    /// Creates a denial. A detail that is too long is truncated.
    public init(_ kind: Kind, _ detail: String, count: Int = 1, remedy: Remedy? = nil) {
        self.kind = kind
        self.detail =
            detail.utf8.count <= Self.maximumDetailBytes
            ? detail : String(decoding: detail.utf8.prefix(Self.maximumDetailBytes), as: UTF8.self) + "…"
        self.count = count
        self.remedy = remedy
    }

    /// The change that would allow the attempt.
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

    /// The end of a sentence that says which change would allow the attempt, or an empty string.
    public var advice: String {
        switch whatToDo {
        case .none: ""
        case .readablePaths: ", which ReadablePaths in its Info.plist does not grant"
        case .writablePaths: ", which WritablePaths in its Info.plist does not grant"
        case .allowsNetwork: ", which AllowsNetwork in its Info.plist does not grant"
        case .memoryLimit: ", which MemoryLimit in its Info.plist does not grant"
        case .temporaryFolder: ", which all users share; use the worker's own folder for temporary files, $TMPDIR"
        case .madeBefore:
            ", which it declares and which did not exist at the start of its worker; create it with its app or installer"
        case .otherMachines:
            ", an address of this machine, which extensions may not use; AllowsNetwork is for other machines"
        case .tcpAlone: ", which AllowsNetwork does not grant; it grants only TCP"
        case .noServers: ", which AllowsNetwork does not grant; it grants only outgoing connections"
        }
    }

    /// The attempt as text: "tried to read /etc/shadow".
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
        case .limit: "tried to exceed a limit (\(detail))"
        case .kernel: "tried to call \(detail)"
        }
    }
}
