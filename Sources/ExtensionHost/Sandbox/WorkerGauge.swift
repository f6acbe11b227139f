// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import SystemSupport

/// What a worker used too much of, though the kernel had not refused it; the host ends the worker for it.
enum WorkerExcess: Hashable, Sendable {
    /// Bytes or files in its temporary folder.
    case temporaryFolder(String)
    /// Memory together with files that are memory.
    case memory
    /// Memory of its own that the kernel does not count for its limit, in bytes: that limit.
    case ownMemory(limit: Int)
    /// Descriptors that it sent to itself and does not receive; the kernel counts them for all processes of a user.
    case descriptorsInFlight
    /// Locks of files, each of which is memory of the kernel.
    case locks
    /// Pieces of memory, each of which is memory of the kernel.
    case mappings
    /// It cannot be measured; the text says why.
    case unmeasured(String)
}

/// The use of what no limit of the kernel counts for one worker, measured from time to time while the worker does something.
///
/// Not for files in folders that a manifest declares, as long as they have a name: those are the user's. Belongs to the thread of the
/// worker's ``AttemptWatcher``.
///
/// What cannot be measured counts as too much. Two kinds of files have bytes that nobody can see: those whose descriptors are in flight,
/// and those without name and descriptor that are mapped. They count with all that the worker wrote, and all that vanished from where
/// it could be seen, while they became so.
struct WorkerGauge {
    /// The wait between two looks at a worker, in milliseconds. One that used no processor since the last look gets a glance instead.
    static let shortest = 250
    /// The same for one that was stopped. Whoever lets it go on has to have it looked at; see ``hasten()``.
    static let longestStill = 60_000
    /// The bytes of a file that a worker may write in a millisecond, at most, and the shortest wait for that, in milliseconds: the next
    /// look comes before the rest of a quota can be filled.
    private static let bytesPerMillisecond: UInt64 = 8 << 20
    private static let closest = 20
    /// How many looks in a row may find descriptors in flight.
    private static let maximumInFlight = 8
    /// How many looks in a row, ``closest`` apart, may fail. A worker that ends is without its first thread for a moment.
    private static let maximumFailures = 5

    /// The two ends of a worker's connection.
    struct Connection {
        /// The host's.
        weak var own: OwnedDescriptor?
        /// The inode of the worker's. Its number says nothing: the worker can put another socket there.
        var inode: UInt64

        /// - Parameters:
        ///   - own: The host's end.
        ///   - worker: The worker's, while this process has it.
        init(_ own: OwnedDescriptor, worker: OwnedDescriptor) {
            var status = stat()
            self.own = own
            inode = fstat(worker.number, &status) == 0 ? UInt64(status.st_ino) : 0
        }
    }

    private let process: pid_t
    private let policy: SandboxPolicy
    private let connection: Connection
    /// Without links; `nil` if the worker has none.
    private let folder: String?
    private let isFolderMemory: Bool
    /// Where the worker may make files, the temporary folder first; each with a zero byte, and one more.
    private let places: [CChar]

    private var processorTime: UInt64?
    private var looksInFlight = 0
    private var failures = 0
    /// Whether all could be measured once.
    private var hasMeasured = false
    /// How many files there are in the temporary folder, or more.
    private var estimatedFiles: UInt64 = 0
    /// Bytes that the worker was allowed to allocate since it was looked at, and ever.
    private var allocating: UInt64 = 0
    private var allocated: UInt64 = 0
    /// Bytes in the temporary folder at the last look.
    private var visibleOwn: UInt64 = 0
    /// By how many bytes pieces of memory were enlarged since the last look.
    private var grown: UInt64 = 0
    private var hidden = HiddenBytes()
    private var hiddenFiles = [csandbox_hidden](repeating: csandbox_hidden(), count: Int(CSANDBOX_MAXIMUM_HIDDEN))

    /// Whether the worker had no memory left at the last look, but for small pieces of which nobody is asked. Once, until it has some
    /// again.
    private(set) var isMemoryUsedUp = false
    private var wasMemoryUsedUp = false
    /// What is left when there is nothing left to give to malloc, in bytes.
    private static let remainder: UInt64 = 256 << 10

    /// How long to wait until the next look, in milliseconds.
    private(set) var wait = Self.shortest

    init(_ process: pid_t, _ policy: SandboxPolicy, _ connection: Connection) {
        (self.process, self.policy, self.connection) = (process, policy, connection)
        let folder = policy.temporaryFolder.flatMap { SmallFile.resolved($0) }
        self.folder = folder
        isFolderMemory = folder.map { csandbox_is_memory($0) != 0 } ?? false
        let writable = policy.rules.filter { $0.access == .write }.compactMap { SmallFile.resolved($0.path) }
        // Without a temporary folder the first place is one where nothing lies.
        places = ([folder ?? "/dev/null"] + writable.filter { $0 != folder }).flatMap { $0.utf8CString } + [0]
    }

    /// Has the next look be one at everything, and soon.
    mutating func hasten() {
        processorTime = nil
        wait = Self.closest
    }

    /// Notes that a piece of memory is enlarged by so many bytes. It can be one of a file that nobody sees.
    mutating func note(growth: UInt64) {
        let (sum, overflow) = grown.addingReportingOverflow(growth)
        grown = overflow ? .max : sum
    }

    /// Measures, and says what is too much; `nil` if nothing is.
    mutating func look() -> WorkerExcess? {
        var now: UInt64 = 0
        let isKnown = csandbox_processor_time(process, &now) == 0
        if isKnown, now == processorTime, looksInFlight == 0, failures == 0 {
            // It had no processor since, so it cannot have used more of anything.
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
        // The folder is measured whatever else fails.
        let problems = [measure(&use), measureFolder(&use.size)].compactMap { $0 }
        hasMeasured = hasMeasured || problems.isEmpty
        if let excess = count(use, isWhole: problems.isEmpty) ?? memoryExcess(memory, use) { return excess }
        return failing(problems)
    }

    /// What one look finds.
    private struct Use {
        var activity = csandbox_activity()
        var descriptors = csandbox_descriptors()
        var size = csandbox_size()
        var ownMemory: UInt64 = 0
        var isInFlightToHost = false
        /// Files without a name in the temporary folder.
        var removedFiles: UInt64 { UInt64(descriptors.removed_files) + UInt64(descriptors.hidden_count) }
        /// Bytes in the temporary folder, with and without a name.
        var visibleOwn: UInt64 { size.bytes + descriptors.removed_bytes }
    }

    /// Why something was not measured.
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

    /// The most private memory: the limit, and what it does not count.
    private var mostMemory: UInt64 {
        UInt64(policy.memoryLimit) + csandbox_unlimited_memory(policy.allowsNewCode ? 1 : 0)
    }

    /// What failed counts against the worker, unless it was this process that lacked something.
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
            // Where this process may look at no other, at all. A worker cannot have that happen.
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

    /// Adds up what was found; where something is missing, what was hidden before counts on.
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
        // Elsewhere a file may have been removed by another program that replaced it.
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

    /// Whether the worker's private memory is so much already that it gets no more.
    func hasAllMemory(_ memory: csandbox_memory) -> Bool { memory.resident > mostMemory }

    /// Whether so many bytes more fit into the temporary folder; `true` for a file elsewhere.
    mutating func mayAllocate(_ bytes: UInt64, of file: () -> String?) -> Bool {
        guard let folder else { return true }
        // A path that is too long to be told may lead there.
        if let path = file(), !lies(path, in: folder) { return true }
        var use = Use()
        guard measure(&use) == nil, measureFolder(&use.size) == nil else { return false }
        // What others of its threads were just allowed may not be there yet.
        let appeared = use.visibleOwn - min(use.visibleOwn, visibleOwn)
        let known = use.visibleOwn + hidden.bytes + allocating - min(allocating, appeared)
        let (sum, overflow) = known.addingReportingOverflow(bytes)
        guard !overflow, sum <= policy.temporaryBytes else { return false }
        allocating += bytes
        allocated += bytes
        hasten()
        return true
    }

    /// Counts a call that may make a file, wherever; `false` if the temporary folder is full.
    mutating func mayMakeFile() -> Bool {
        estimatedFiles += 1
        guard estimatedFiles > policy.temporaryFiles, folder != nil else { return true }
        var use = Use()
        let isMeasured = measure(&use) == nil && measureFolder(&use.size) == nil
        estimatedFiles = use.size.files + use.removedFiles + 1
        return isMeasured && estimatedFiles <= policy.temporaryFiles
    }
}

/// The bytes of files that nobody can see: at most what was written, and what vanished, while they were hidden.
struct HiddenBytes {
    /// Files that were hidden at the same time.
    private struct Group {
        var files: Set<UInt64>
        var bytes: UInt64
    }
    private var groups: [Group] = []
    private var inFlight: UInt64 = 0
    private var written: UInt64 = 0
    /// What could be seen at the last look.
    private var visible: UInt64 = 0

    /// The most that may be hidden.
    var bytes: UInt64 { groups.reduce(inFlight) { $0 + $1.bytes } }

    /// Takes what a look found: bytes that can be seen, those ever written, by how much maps grew since the last look, and files that
    /// only maps keep.
    mutating func note(
        visible now: UInt64, written total: UInt64, grown: UInt64, isInFlight: Bool,
        files: some Sequence<csandbox_hidden>
    ) {
        let new = total - min(written, total)
        let (vanished, appeared) = (visible - min(visible, now), now - min(visible, now))
        (written, visible) = (total, now)
        // What was in flight may be mapped by now, unless it can be seen again.
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
        // Such a file grows where its map does.
        if !groups.isEmpty { groups[0].bytes += min(grown, new) }
        let fresh = groups.reduce(into: Set(mapped.keys)) { $0.subtract($1.files) }
        if !fresh.isEmpty {
            let bytes = fresh.reduce(0) { $0 + (mapped[$1] ?? 0) }
            // While something is in flight, that has been counted there.
            groups.append(Group(files: fresh, bytes: isInFlight ? bytes : max(bytes, unknown)))
        }
    }
}
