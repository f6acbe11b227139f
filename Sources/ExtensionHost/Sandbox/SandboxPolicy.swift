// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// One worker's access rights. The host computes them, and the worker gives up all other access
/// before it loads any code.
///
/// The paths contain no links, and the worker follows none: if a link has appeared since, the
/// worker reports it. `/proc` is the exception (`CSANDBOX_UNLESS_SERVED`).
package struct SandboxPolicy: Hashable, Sendable {
    /// The access to a path and to everything below it.
    package enum Access: UInt32, Sendable {
        case read = 1
        /// Reading and writing.
        case write = 2
        /// Reading and listing, if the host cannot open files in `/proc` for the worker.
        case readUnlessServed = 9
        /// Reading without listing, under the same condition.
        case readFilesUnlessServed = 13
    }
    package struct Rule: Hashable, Sendable {
        package var path: String
        package var access: Access

        package init(_ path: String, _ access: Access) { (self.path, self.access) = (path, access) }
    }

    /// A readable path from the manifest.
    package struct Grant: Hashable, Sendable {
        /// The absolute path. Its symbolic links are not resolved.
        package var path: String
        /// The manifest's path, or the list file that names the path.
        package var declared: DeclaredPath
    }

    package var rules: [Rule] = []
    /// The declared paths that are not granted.
    package var withheld: [SandboxReport.DeniedPath] = []
    /// The granted readable paths, except the bundle's own files.
    package var grants: [Grant] = []
    /// The declared list files, with their paths.
    package var lists: [Grant] = []
    /// The existing list files that cannot be read.
    package var unreadableLists: [Grant] = []
    /// The files that the policy depends on and that may change while a worker runs.
    package var places = GrantedPathIdentities()
    /// The protections to apply.
    package var protections: SandboxProtections = .all
    /// `true` if the worker may open connections. No worker may listen.
    package var allowsNetwork = false
    /// `true` if memory that was writable may become code, which libffi's closures need.
    package var allowsNewCode = false
    /// The background measures; empty for interactive workers.
    package var background: BackgroundMeasures = []
    /// The limit for private writable memory, in bytes.
    package var memoryLimit = DeclaredAccess.defaultMemoryLimit
    /// The worker's own writable folder (`TMPDIR`); `nil` if there is none.
    package var temporaryFolder: String?
    /// The limits of the temporary folder: bytes on the disk, and the number of files, folders and
    /// links.
    package var temporaryBytes: UInt64 = 1 << 30
    package var temporaryFiles: UInt64 = 10_000

    package init() {}

    /// A policy without restrictions, for debugging.
    package static var off: SandboxPolicy {
        var policy = SandboxPolicy()
        policy.protections = .endWithHost
        return policy
    }

    /// A worker's address space beyond its memory limit, in bytes.
    ///
    /// It covers mappings of files and libraries (about 400 MiB in a Swift worker), and stacks and
    /// arenas that are reserved but never touched. `RLIMIT_DATA` counts private writable memory,
    /// which is what an extension uses. Workers are denied memory that it does not count: shared
    /// memory and growing stacks (``MemoryRequest``). `RLIMIT_AS` alone would have to be so large
    /// that it would limit nothing.
    static let addressSpaceBeyondMemory: UInt64 = 2 << 30
    /// The maximum size of a file, in bytes. The number of descriptors and the writable folders are
    /// limited too.
    static let maximumFileBytes: UInt64 = 4 << 30
    /// The maximum number of descriptors. Notes are opened one at a time, and a library's file is
    /// closed once it is mapped.
    ///
    /// The limit also bounds resources that the kernel counts per user. Once its user has reached
    /// such a limit, a worker gets no more of them:
    ///
    /// - pipe pages: half of the descriptors, 16 pages each,
    /// - epoll watches: a quarter of the square,
    /// - descriptors in flight.
    static let maximumDescriptors: UInt32 = 256
    /// The number of a user's timers and queued signals at which a worker is denied more.
    static let maximumSignals: UInt32 = 128
    /// The limit for address space, in bytes.
    var addressSpaceLimit: UInt64 { UInt64(memoryLimit) + Self.addressSpaceBeyondMemory }

    /// Returns the policy in the worker's encoding; see `csandbox_policy.h`.
    ///
    /// - Parameter programs: The seccomp filters; `nil` if libseccomp cannot create them.
    package func encoded(_ programs: SeccompPrograms?, host: Int32) throws(ExtensionError) -> [UInt8] {
        var programs = protections.contains(.systemCalls) ? programs : nil
        if !protections.contains(.telling) { programs?.telling = [] }
        let head = csandbox_policy(
            magic: CSANDBOX_POLICY_MAGIC, version: CSANDBOX_VERSION, byte_count: 0, protections: protections.rawValue,
            data_limit: UInt64(memoryLimit), address_limit: addressSpaceLimit,
            file_limit: Self.maximumFileBytes, descriptor_limit: Self.maximumDescriptors, host: UInt32(host),
            allows_tcp: allowsNetwork ? 1 : 0, rule_count: UInt32(rules.count),
            telling_count: UInt32((programs?.telling.count ?? 0) / 8),
            plain_count: UInt32((programs?.plain.count ?? 0) / 8), idle: background.rawValue,
            timer_slack: background.contains(.timers) ? BackgroundMeasures.timerSlack : 0,
            oom_score: background.contains(.memory) ? BackgroundMeasures.outOfMemoryScore : 0,
            signal_limit: Self.maximumSignals)
        var bytes = Self.bytes(of: head)
        for rule in rules {
            let path = Array(rule.path.utf8)
            bytes += Self.bytes(of: csandbox_rule(access: rule.access.rawValue, length: UInt32(path.count)))
            bytes += path + [0]
        }
        bytes += (programs?.telling ?? []) + (programs?.plain ?? [])
        withUnsafeBytes(of: UInt32(bytes.count)) { bytes.replaceSubrange(8..<12, with: $0) }
        var parsed = csandbox_parsed()
        guard csandbox_parse(bytes, bytes.count, &parsed) == 0 else {
            throw .workerUnavailable(
                reason: "it declares too many paths: \(rules.count) with \(bytes.count) bytes in all. "
                    + "Declare fewer folders in its Info.plist, or list fewer in its files of ReadablePathsFrom.")
        }
        return bytes
    }

    private static func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}
