// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// What a worker used too much of, though the kernel had not refused it; the host ends the worker for it.
enum WorkerExcess: Hashable, Sendable {
    /// Bytes or files in its temporary folder.
    case temporaryFolder(String)
    /// Memory together with files that are memory.
    case memory
    /// Descriptors that it sent to itself and does not receive; the kernel counts them for all processes of a user.
    case descriptorsInFlight
}

/// The use of what no limit of the kernel counts for one worker, measured from time to time while the worker does something.
///
/// Not for files in folders that a manifest declares: those are the user's. Belongs to the thread of the worker's ``AttemptWatcher``.
struct WorkerGauge {
    /// The first and the longest wait between two looks at a worker that uses a processor, in milliseconds.
    static let shortest = 250, longest = 4000
    /// The same for one that stands still, which cannot use more of anything.
    static let longestStill = 60_000
    /// The bytes of a file that a worker may write in a millisecond, at most, and the shortest wait for that, in milliseconds: the next
    /// look comes before the rest of a quota can be filled.
    private static let bytesPerMillisecond: UInt64 = 8 << 20
    private static let closest = 20
    /// How many looks in a row may find descriptors in flight.
    private static let maximumInFlight = 8

    private let process: pid_t
    private let policy: SandboxPolicy
    /// Without links; `nil` if the worker has none.
    private let folder: String?
    private let isFolderMemory: Bool
    private var processorTime: UInt64 = 0
    private var looksInFlight = 0
    /// How many files there are in the temporary folder, or more.
    private var estimatedFiles: UInt64 = 0

    /// Whether the worker had no memory left at the last look, but for small pieces of which nobody is asked. Once, until it has some
    /// again.
    private(set) var isMemoryUsedUp = false
    private var wasMemoryUsedUp = false
    /// What is left when there is nothing left to give to malloc, in bytes.
    private static let remainder: UInt64 = 256 << 10

    /// How long to wait until the next look, in milliseconds.
    private(set) var wait = Self.shortest

    init(_ process: pid_t, _ policy: SandboxPolicy) {
        (self.process, self.policy) = (process, policy)
        folder = policy.temporaryFolder.flatMap { SmallFile.resolved($0) }
        isFolderMemory = folder.map { csandbox_is_memory($0) != 0 } ?? false
    }

    /// Measures, and says what is too much; `nil` if nothing is.
    mutating func look() -> WorkerExcess? {
        var now: UInt64 = 0
        let isKnown = csandbox_processor_time(process, &now) == 0
        let isStill = isKnown && now == processorTime
        processorTime = now
        let most = csandbox_is_stopped(process) != 0 ? Self.longestStill : Self.longest
        wait = isStill ? min(wait * 2, most) : Self.shortest

        var memory = csandbox_memory()
        let hasMemory = csandbox_measure_memory(process, &memory) == 0
        let isUsedUp = hasMemory && memory.data + Self.remainder > UInt64(policy.memoryLimit)
        (isMemoryUsedUp, wasMemoryUsedUp) = (isUsedUp && !wasMemoryUsedUp, isUsedUp)

        var descriptors = csandbox_descriptors()
        guard csandbox_measure_descriptors(process, folder ?? "", CSANDBOX_CONNECTION_FD, &descriptors) == 0 else {
            return nil
        }
        looksInFlight = descriptors.in_flight > 0 ? looksInFlight + 1 : 0
        if looksInFlight >= Self.maximumInFlight { return .descriptorsInFlight }

        guard let folder else { return nil }
        var size = csandbox_size()
        let code = csandbox_measure_folder(folder, policy.temporaryFiles, &size)
        if code == ENOSPC || code == EMFILE { return .temporaryFolder("\(policy.temporaryFiles) files") }
        estimatedFiles = size.files
        let bytes = size.bytes + descriptors.removed_bytes
        if bytes > policy.temporaryBytes { return .temporaryFolder("\(policy.temporaryBytes >> 20) MiB") }
        if !isStill {
            let rest = Int((policy.temporaryBytes - bytes) / Self.bytesPerMillisecond)
            wait = max(min(wait, rest), Self.closest)
        }
        guard isFolderMemory, bytes > 0, hasMemory else { return nil }
        return memory.resident + bytes > UInt64(policy.memoryLimit) ? .memory : nil
    }

    /// Whether so many bytes more fit into the temporary folder; `true` for a file elsewhere.
    mutating func mayAllocate(_ bytes: UInt64, of file: () -> String?) -> Bool {
        guard let folder, let path = file(), lies(path, in: folder) else { return true }
        var size = csandbox_size()
        guard csandbox_measure_folder(folder, policy.temporaryFiles, &size) == 0 else { return false }
        let (sum, overflow) = size.bytes.addingReportingOverflow(bytes)
        return !overflow && sum <= policy.temporaryBytes
    }

    /// Counts a call that may make a file, wherever; `false` if the temporary folder is full.
    mutating func mayMakeFile() -> Bool {
        estimatedFiles += 1
        guard estimatedFiles > policy.temporaryFiles, let folder else { return true }
        var size = csandbox_size()
        let code = csandbox_measure_folder(folder, policy.temporaryFiles, &size)
        estimatedFiles = size.files + 1
        return code == 0 && size.files < policy.temporaryFiles
    }
}
