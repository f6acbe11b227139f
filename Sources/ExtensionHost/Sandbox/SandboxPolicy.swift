// SPDX-License-Identifier: Apache-2.0
import CSandbox

/// What one worker may reach, worked out by the host and handed to the worker, which gives up everything else before it
/// loads anything. Its paths have no links, and the worker follows none: where one has come to be since, that is reported
/// (`CSANDBOX_UNLESS_SERVED` aside, which is `/proc`).
package struct SandboxPolicy: Hashable, Sendable {
    /// What is allowed at a path and below it.
    package enum Access: UInt32, Sendable {
        case read = 1
        /// Reading too.
        case write = 2
        /// Reading and listing, where the host cannot open files in `/proc` for the worker.
        case readUnlessServed = 9
        /// Reading without listing, likewise.
        case readFilesUnlessServed = 13
    }
    package struct Rule: Hashable, Sendable {
        package var path: String
        package var access: Access

        package init(_ path: String, _ access: Access) { (self.path, self.access) = (path, access) }
    }

    /// A path that a manifest made readable.
    package struct Grant: Hashable, Sendable {
        /// Where it is, by the name that it was given; links on the way are not followed.
        package var path: String
        /// What the manifest has: the path, or the list that names it.
        package var declared: DeclaredPath
    }

    package var rules: [Rule] = []
    /// What was declared and is not granted.
    package var withheld: [SandboxReport.Withheld] = []
    /// What was declared readable and is granted, but for the bundle's own files.
    package var grants: [Grant] = []
    /// The files that list folders, as they were declared and where they are.
    package var lists: [Grant] = []
    /// Those of them that are there and cannot be read.
    package var unreadableLists: [Grant] = []
    /// What it was made from, as far as that may change while a worker runs.
    package var places = GrantedPlaces()
    /// What is to hold it back.
    package var protections: SandboxProtections = .all
    /// Whether it may open connections; never wait for them.
    package var allowsNetwork = false
    /// Whether memory that was written may become code, as libffi's closures need.
    package var allowsNewCode = false
    /// What makes it give way to everybody else; nothing unless it works in the background.
    package var background: BackgroundMeasures = []
    /// Bytes of private writable memory.
    package var memoryLimit = DeclaredAccess.defaultMemoryLimit
    /// The worker's own folder to write (`TMPDIR`); `nil` if there is none.
    package var temporaryFolder: String?
    /// The most that may lie in it: bytes on the disk, and files with folders and links.
    package var temporaryBytes: UInt64 = 1 << 30
    package var temporaryFiles: UInt64 = 10_000

    package init() {}

    /// A policy that holds nothing back, for debugging.
    package static var off: SandboxPolicy {
        var policy = SandboxPolicy()
        policy.protections = .endWithHost
        return policy
    }

    /// What address space a worker gets beyond its memory: what it maps of files and libraries (a Swift worker: about 400
    /// MiB), and stacks and arenas that are reserved and never touched. `RLIMIT_DATA` counts private memory that can be
    /// written, which is what an extension uses. Of memory that it does not count, shared memory and stacks that grow, a worker gets
    /// none (``MemoryRequest``); `RLIMIT_AS` alone would have to be so wide that it bounds nothing.
    static let addressSpaceBeyondMemory: UInt64 = 2 << 30
    /// The largest file it may write, in bytes; with few descriptors, and nowhere to write but its folders.
    static let maximumFileBytes: UInt64 = 4 << 30
    /// Descriptors; notes are opened one at a time, and libraries are closed once they are mapped. This also bounds what the kernel
    /// counts per user: pages of pipes (half of these, 16 pages each), watches of epoll (a quarter of the square), and descriptors
    /// in flight, of which a worker sends no more once its user has so many.
    static let maximumDescriptors: UInt32 = 256
    /// Timers and queued signals that a user may have before a worker gets no more.
    static let maximumSignals: UInt32 = 128
    /// Bytes of address space.
    var addressSpaceLimit: UInt64 { UInt64(memoryLimit) + Self.addressSpaceBeyondMemory }

    /// The bytes for the worker; see `csandbox_policy.h`.
    ///
    /// - Parameter programs: The filters of system calls; `nil` where they cannot be made.
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
                reason: "what it may reach is too much: \(rules.count) paths of \(bytes.count) bytes in all. "
                    + "Declare fewer folders in its Info.plist, or name fewer in the files it reads them from.")
        }
        return bytes
    }

    private static func bytes<Value: BitwiseCopyable>(of value: Value) -> [UInt8] {
        withUnsafeBytes(of: value) { Array($0) }
    }
}
