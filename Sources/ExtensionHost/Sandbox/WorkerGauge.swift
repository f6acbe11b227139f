// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// An excessive resource use by a worker that the kernel does not prevent. The host terminates the
/// worker for it.
enum WorkerExcess: Hashable, Sendable {
    /// Too many bytes or files in the temporary folder.
    case temporaryFolder(String)
    /// Too much memory, including files on a memory file system.
    case memory
    /// Too much private memory that `RLIMIT_DATA` does not count. `limit` is the worker's limit, in
    /// bytes.
    case ownMemory(limit: Int)
    /// Descriptors that the worker sent to itself and does not receive. The kernel counts them per
    /// user, across all processes.
    case descriptorsInFlight
    /// Too many file locks, which use kernel memory.
    case locks
    /// Too many mappings, which use kernel memory.
    case mappings
    /// The use cannot be measured, for the given reason.
    case unmeasured(String)
}

/// A gauge of one worker's resources that have no kernel limit. It measures periodically while the
/// worker is active.
///
/// Files in declared folders do not count while they have a name, because they belong to the user.
/// The gauge is only used on the thread of the worker's ``AttemptWatcher``.
///
/// A use that cannot be measured counts as an excess. The size of two kinds of files is invisible:
///
/// - files whose descriptors are in flight,
/// - mapped files without name and descriptor.
///
/// The upper bound of their size is the sum of two numbers: the bytes that the worker wrote while
/// they became invisible, and the bytes that disappeared from visible files in that time.
struct WorkerGauge {
    /// The interval between measurements, in milliseconds. If a worker used no processor time since
    /// the last measurement, only its processor time is checked.
    static let shortest = 250
    /// The interval for a stopped worker, in milliseconds. The caller that resumes it must call
    /// ``hasten()``.
    static let longestStill = 60_000
    /// The maximum rate at which a worker can write a file, in bytes per millisecond, and the
    /// shortest interval that follows from it, in milliseconds. The next measurement takes place
    /// before the rest of a quota can be filled.
    private static let bytesPerMillisecond: UInt64 = 8 << 20
    private static let closest = 20
    /// The number of consecutive measurements that may find descriptors in flight.
    private static let maximumInFlight = 8
    /// The number of consecutive measurements, ``closest`` apart, that may fail. A worker that is
    /// exiting has no main thread for a short time.
    private static let maximumFailures = 5

    /// Both ends of a worker's connection.
    struct Connection {
        /// The host's end.
        weak var own: OwnedDescriptor?
        /// The inode of the worker's end. The descriptor number is not enough: the worker can move
        /// another socket to that number.
        var inode: UInt64

        /// Records both ends.
        ///
        /// - Parameters:
        ///   - own: The host's end.
        ///   - worker: The worker's end, while this process still has it.
        init(_ own: OwnedDescriptor, worker: OwnedDescriptor) {
            var status = stat()
            self.own = own
            inode = fstat(worker.number, &status) == 0 ? UInt64(status.st_ino) : 0
        }
    }

    private let process: pid_t
    private let policy: SandboxPolicy
    private let connection: Connection
    /// The temporary folder, without links; `nil` if the worker has none.
    private let folder: String?
    private let isFolderMemory: Bool
    /// The paths where the worker may create files, each followed by a zero byte, and one more zero
    /// byte at the end. The temporary folder is the first path.
    private let places: [CChar]

    private var processorTime: UInt64?
    private var looksInFlight = 0
    private var failures = 0
    /// `true` once a measurement has been complete.
    private var hasMeasured = false
    /// An upper bound of the number of files in the temporary folder.
    private var estimatedFiles: UInt64 = 0
    /// The bytes that the worker was allowed to allocate since the last measurement, and in total.
    private var allocating: UInt64 = 0
    private var allocated: UInt64 = 0
    /// The bytes in the temporary folder at the last measurement.
    private var visibleOwn: UInt64 = 0
    /// The bytes by which mappings grew since the last measurement.
    private var grown: UInt64 = 0
    private var hidden = HiddenBytes()
    private var hiddenFiles = [csandbox_hidden](repeating: csandbox_hidden(), count: Int(CSANDBOX_MAXIMUM_HIDDEN))

    /// `true` if the last measurement found that no memory was left, except for small mappings that
    /// need no request. Reported once, until memory is available again.
    private(set) var isMemoryUsedUp = false
    private var wasMemoryUsedUp = false
    /// The remaining memory, in bytes, at which malloc gets no more memory.
    private static let remainder: UInt64 = 256 << 10

    /// The time until the next measurement, in milliseconds.
    private(set) var wait = Self.shortest

    init(_ process: pid_t, _ policy: SandboxPolicy, _ connection: Connection) {
        (self.process, self.policy, self.connection) = (process, policy, connection)
        let folder = policy.temporaryFolder.flatMap { SmallFile.resolved($0) }
        self.folder = folder
        isFolderMemory = folder.map { csandbox_is_memory($0) != 0 } ?? false
        let writable = policy.rules.filter { $0.access == .write }.compactMap { SmallFile.resolved($0.path) }
        // Without a temporary folder, the first path is one that contains no files.
        places = ([folder ?? "/dev/null"] + writable.filter { $0 != folder }).flatMap { $0.utf8CString } + [0]
    }

    /// Makes the next measurement complete and schedules it soon.
    mutating func hasten() {
        processorTime = nil
        wait = Self.closest
    }

    /// Records the growth of a mapping, which may belong to an invisible file.
    mutating func note(growth: UInt64) {
        let (sum, overflow) = grown.addingReportingOverflow(growth)
        grown = overflow ? .max : sum
    }

    /// Measures the resources, and returns the excess, if there is one.
    mutating func look() -> WorkerExcess? {
        var now: UInt64 = 0
        let isKnown = csandbox_processor_time(process, &now) == 0
        if isKnown, now == processorTime, looksInFlight == 0, failures == 0 {
            // A worker that used no processor time since the last check cannot use more resources
            // than before.
            wait = csandbox_is_stopped(process) != 0 ? Self.longestStill : Self.shortest
            return nil
        }
        processorTime = isKnown ? now : nil
        wait = Self.shortest
        guard csandbox_has_ended(process) == 0 else { return nil }

        var memory = csandbox_memory()
        let hasMemory = csandbox_measure_memory(process, &memory) == 0
        let isUsedUp = hasMemory && memory.data + Self.remainder > UInt64(policy.memoryLimit)
        (isMemoryUsedUp, wasMemoryUsedUp) = (isUsedUp && !wasMemoryUsedUp, isUsedUp)

        var use = Use()
        // The folder is measured even if the rest fails.
        let problems = [measure(&use), measureFolder(&use.size)].compactMap { $0 }
        hasMeasured = hasMeasured || problems.isEmpty
        if let excess = count(use, isWhole: problems.isEmpty) ?? memoryExcess(memory, use) { return excess }
        return failing(problems)
    }

    /// The result of one measurement.
    private struct Use {
        var activity = csandbox_activity()
        var descriptors = csandbox_descriptors()
        var size = csandbox_size()
        var ownMemory: UInt64 = 0
        var isInFlightToHost = false
        /// The number of files without a name in the temporary folder.
        var removedFiles: UInt64 { UInt64(descriptors.removed_files) + UInt64(descriptors.hidden_count) }
        /// The bytes of the temporary folder's files, with and without a name.
        var visibleOwn: UInt64 { size.bytes + descriptors.removed_bytes }
    }

    /// The reason for an incomplete measurement.
    private enum Problem { case folder(Int32), process(Int32), headless, mappings }

    private mutating func measure(_ use: inout Use) -> Problem? {
        var code = csandbox_measure_activity(process, &use.activity)
        if code != 0 { return .process(code) }
        if use.activity.is_headless != 0 { return .headless }
        use.isInFlightToHost = connection.own.map { csandbox_in_flight($0.number) > 0 } ?? false
        code = csandbox_measure_descriptors(process, places, connection.inode, &use.descriptors, &hiddenFiles)
        if code == E2BIG { return .mappings }
        if code != 0 { return .process(code) }
        code = csandbox_measure_private(process, mostMemory, &use.ownMemory)
        return code == 0 ? nil : .process(code)
    }

    private func measureFolder(_ size: inout csandbox_size) -> Problem? {
        guard let folder else { return nil }
        let code = csandbox_measure_folder(folder, policy.temporaryFiles, &size)
        return code == 0 ? nil : .folder(code)
    }

    /// The maximum private memory: the limit, plus the memory that the limit does not count.
    private var mostMemory: UInt64 {
        UInt64(policy.memoryLimit) + csandbox_unlimited_memory(policy.allowsNewCode ? 1 : 0)
    }

    /// Handles an incomplete measurement, which counts against the worker unless this process
    /// lacked a resource.
    private mutating func failing(_ problems: [Problem]) -> WorkerExcess? {
        var reason: String?
        for problem in problems {
            switch problem {
            case .folder(ENOSPC): return .temporaryFolder("\(policy.temporaryFiles) files")
            case .folder(E2BIG): return .temporaryFolder("64 folders in each other")
            case .mappings: return .mappings
            case .folder(EMFILE), .folder(ENFILE), .folder(ENOMEM), .process(EMFILE), .process(ENFILE),
                .process(ENOMEM), .process(ESRCH):
                continue
            // If no other process can be inspected at all, the worker is not the cause.
            case .process(EACCES) where !hasMeasured, .process(EPERM) where !hasMeasured: continue
            case .headless: reason = "its main thread has ended"
            case .folder(let code): reason = "its temporary folder cannot be read, \(String(cString: strerror(code)))"
            case .process(let code): reason = String(cString: strerror(code))
            }
        }
        if !problems.isEmpty { processorTime = nil }
        guard let reason else {
            failures = 0
            return nil
        }
        failures += 1
        wait = Self.closest
        return failures < Self.maximumFailures ? nil : .unmeasured(reason)
    }

    /// Adds a measurement to the totals. If it is incomplete, the earlier invisible bytes still
    /// count.
    private mutating func count(_ use: Use, isWhole: Bool) -> WorkerExcess? {
        let descriptors = use.descriptors
        looksInFlight = descriptors.in_flight > 0 ? looksInFlight + 1 : 0
        if looksInFlight >= Self.maximumInFlight { return .descriptorsInFlight }
        if descriptors.locks > CSANDBOX_MAXIMUM_LOCKS { return .locks }
        if descriptors.hidden_count >= CSANDBOX_MAXIMUM_HIDDEN {
            return .temporaryFolder("\(CSANDBOX_MAXIMUM_HIDDEN) files without a name that are only mapped")
        }
        guard folder != nil else { return nil }
        estimatedFiles = use.size.files + use.removedFiles
        if estimatedFiles > policy.temporaryFiles { return .temporaryFolder("\(policy.temporaryFiles) files") }

        let written = use.activity.written + allocated + (isFolderMemory ? use.activity.faulted : 0)
        // Nameless files in other folders may belong to another program that replaced them, so
        // they count only up to the bytes that the worker wrote.
        let elsewhere = min(descriptors.removed_elsewhere, written)
        let visible = use.visibleOwn + elsewhere
        if isWhole {
            hidden.note(
                visible: visible, written: written, grown: grown,
                isInFlight: descriptors.in_flight > 0 || use.isInFlightToHost,
                files: hiddenFiles.prefix(Int(descriptors.hidden_count)))
            (allocating, grown, visibleOwn) = (0, 0, use.visibleOwn)
        }
        let bytes = visible + hidden.bytes
        if bytes > policy.temporaryBytes { return .temporaryFolder("\(policy.temporaryBytes >> 20) MiB") }
        let rest = Int((policy.temporaryBytes - bytes) / Self.bytesPerMillisecond)
        wait = max(min(wait, rest), Self.closest)
        return nil
    }

    private mutating func memoryExcess(_ memory: csandbox_memory, _ use: Use) -> WorkerExcess? {
        if use.ownMemory > mostMemory { return .ownMemory(limit: policy.memoryLimit) }
        let files = use.visibleOwn
        guard isFolderMemory, files + hidden.bytes > 0 else { return nil }
        let (sum, limit) = (memory.resident + files + hidden.bytes, UInt64(policy.memoryLimit))
        if sum > limit { return .memory }
        wait = max(min(wait, Int((limit - sum) / Self.bytesPerMillisecond)), Self.closest)
        return nil
    }

    /// Returns `true` if the worker has reached its maximum private memory.
    func hasAllMemory(_ memory: csandbox_memory) -> Bool { memory.resident > mostMemory }

    /// Returns `true` if the bytes fit into the temporary folder, or if the file is in another
    /// folder.
    mutating func mayAllocate(_ bytes: UInt64, of file: () -> String?) -> Bool {
        guard let folder else { return true }
        // A path that is too long to read may lead into the temporary folder.
        if let path = file(), !lies(path, in: folder) { return true }
        var use = Use()
        guard measure(&use) == nil, measureFolder(&use.size) == nil else { return false }
        // Recently allowed allocations by other threads may not be visible yet.
        let appeared = use.visibleOwn - min(use.visibleOwn, visibleOwn)
        let known = use.visibleOwn + hidden.bytes + allocating - min(allocating, appeared)
        let (sum, overflow) = known.addingReportingOverflow(bytes)
        guard !overflow, sum <= policy.temporaryBytes else { return false }
        allocating += bytes
        allocated += bytes
        hasten()
        return true
    }

    /// Counts a call that may create a file in any folder. Returns `false` if the temporary folder
    /// is full.
    mutating func mayMakeFile() -> Bool {
        estimatedFiles += 1
        guard estimatedFiles > policy.temporaryFiles, folder != nil else { return true }
        var use = Use()
        let isMeasured = measure(&use) == nil && measureFolder(&use.size) == nil
        estimatedFiles = use.size.files + use.removedFiles + 1
        return isMeasured && estimatedFiles <= policy.temporaryFiles
    }
}

/// The upper bound of the bytes in invisible files: bytes that were written, or disappeared, while
/// the files were hidden.
struct HiddenBytes {
    /// Files that became hidden at the same time.
    private struct Group {
        var files: Set<UInt64>
        var bytes: UInt64
    }
    private var groups: [Group] = []
    private var inFlight: UInt64 = 0
    private var written: UInt64 = 0
    /// The visible bytes at the last measurement.
    private var visible: UInt64 = 0

    /// The maximum number of hidden bytes.
    var bytes: UInt64 { groups.reduce(inFlight) { $0 + $1.bytes } }

    /// Processes a measurement: the visible bytes, all bytes ever written, the growth of mappings,
    /// and the files that only exist as mappings.
    mutating func note(
        visible now: UInt64, written total: UInt64, grown: UInt64, isInFlight: Bool,
        files: some Sequence<csandbox_hidden>
    ) {
        let new = total - min(written, total)
        let (vanished, appeared) = (visible - min(visible, now), now - min(visible, now))
        (written, visible) = (total, now)
        // Files that were in flight may be mapped by now, unless they are visible again.
        var unknown = new + vanished + inFlight
        if isInFlight {
            inFlight = unknown
        } else {
            unknown -= min(inFlight, appeared)
            inFlight = 0
        }
        var mapped: [UInt64: UInt64] = [:]
        for file in files { mapped[file.inode] = file.bytes }
        groups = groups.compactMap { group in
            let files = group.files.intersection(mapped.keys)
            let bytes = files.reduce(0) { $0 + (mapped[$1] ?? 0) }
            return files.isEmpty ? nil : Group(files: files, bytes: max(group.bytes, bytes))
        }
        // A mapped file grows when its mapping does.
        if !groups.isEmpty { groups[0].bytes += min(grown, new) }
        let fresh = groups.reduce(into: Set(mapped.keys)) { $0.subtract($1.files) }
        if !fresh.isEmpty {
            let bytes = fresh.reduce(0) { $0 + (mapped[$1] ?? 0) }
            // While descriptors are in flight, `inFlight` already includes the unknown bytes.
            groups.append(Group(files: fresh, bytes: isInFlight ? bytes : max(bytes, unknown)))
        }
    }
}
