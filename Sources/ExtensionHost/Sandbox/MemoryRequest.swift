// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// A worker's memory request, from the arguments of its system call.
struct MemoryRequest: Sendable {
    enum Call: Sendable { case map, protect, remap }

    /// The decision about a request.
    enum Verdict: Equatable, Sendable {
        /// The kernel decides, and memory is available.
        case proceed
        /// The kernel decides, and will deny it, because the memory limit is reached.
        case exceeds
        /// The kernel decides, and will deny it, because the address space limit is reached.
        case exceedsAddresses
        /// The host denies the request with this error.
        case refused(error: Int32, SandboxRefusal)
        /// The call maps a file as code. The decision depends on the file behind the descriptor.
        case code(descriptor: Int32)
    }

    var call: Call
    /// The length in bytes, of which ``growth`` bytes are new.
    var length: UInt64
    var growth: UInt64
    var protection: UInt64 = 0
    /// The flags of `mmap`.
    var flags: UInt64 = 0
    var descriptor: Int32 = -1

    init(_ call: Call, _ attempt: csandbox_attempt) {
        self.call = call
        (length, growth) = (attempt[1], attempt[1])
        switch call {
        case .map:
            (protection, flags, descriptor) = (attempt[2], attempt[3], attempt.number(4))
            // The kernel frees the mapping that is replaced, and knows its size.
            if flags & SystemCalls.Mapping.fixed != 0 { growth = 0 }
        case .protect: protection = attempt[2]
        case .remap:
            length = attempt[2]
            growth = length > attempt[1] ? length - attempt[1] : 0
        }
    }

    /// Allows or denies the request.
    ///
    /// - Parameters:
    ///   - memory: The worker's current memory; `nil` if it is unknown.
    ///   - policy: The worker's limits. `allowsNewCode` allows code in memory that was writable.
    func verdict(_ memory: csandbox_memory?, _ policy: SandboxPolicy) -> Verdict {
        typealias Mapping = SystemCalls.Mapping
        let isCode = protection & Mapping.executable != 0 && !policy.allowsNewCode
        let kind = call == .map ? flags & (Mapping.shared | Mapping.anonymous) : Mapping.anonymous
        if isCode {
            if call == .map, flags & Mapping.anonymous == 0, protection & Mapping.writable == 0 {
                return .code(descriptor: descriptor)
            }
            let name = call == .map ? "mmap" : "mprotect"
            return .refused(error: EPERM, SandboxRefusal(.kernel, "\(name) for code in memory that was written"))
        }
        if call == .map, flags & Mapping.growsDown != 0 {
            return .refused(error: ENOMEM, SandboxRefusal(.memory, "a stack that grows by itself"))
        }
        if call == .map, flags & Mapping.huge != 0 {
            return .refused(error: ENOMEM, SandboxRefusal(.memory, "huge pages"))
        }
        if kind == Mapping.shared | Mapping.anonymous {
            return .refused(error: ENOMEM, SandboxRefusal(.memory, "shared memory without a file"))
        }
        guard let memory, growth > 0 else { return .proceed }
        let counts = kind == Mapping.anonymous && (protection & Mapping.writable != 0 || call == .remap)
        let data = counts ? memory.data.addingReportingOverflow(growth) : (memory.data, false)
        let space =
            call == .protect ? (memory.address_space, false) : memory.address_space.addingReportingOverflow(growth)
        if data.1 || data.0 > UInt64(policy.memoryLimit) { return .exceeds }
        return space.1 || space.0 > policy.addressSpaceLimit ? .exceedsAddresses : .proceed
    }
}

/// A worker's limit on a resource other than memory.
enum ResourceLimit: Sendable {
    /// Open descriptors.
    case descriptors
    /// Timers and queued signals, which the kernel counts per user.
    case signals

    /// Returns the denial to report if the worker has reached the limit; `nil` if it may allocate
    /// one more.
    func refusal(of process: pid_t) -> SandboxRefusal? {
        switch self {
        case .descriptors:
            guard csandbox_count_descriptors(process) >= Int64(SandboxPolicy.maximumDescriptors) else { return nil }
            return SandboxRefusal(.limit, "\(SandboxPolicy.maximumDescriptors) open files")
        case .signals:
            var (queued, limit) = (UInt64(0), UInt64(0))
            guard csandbox_measure_signals(process, &queued, &limit) == 0, queued >= limit else { return nil }
            return SandboxRefusal(.limit, "\(SandboxPolicy.maximumSignals) timers and queued signals of the user")
        }
    }
}
