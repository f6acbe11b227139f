// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc

/// A piece of memory that a worker asks for, as the arguments of its call say.
struct MemoryRequest: Sendable {
    enum Call: Sendable { case map, protect, remap }

    /// What becomes of it.
    enum Verdict: Equatable, Sendable {
        /// The kernel decides, and will give it.
        case proceed
        /// The kernel decides, and has no memory left to give.
        case exceeds
        /// The kernel decides, and has no addresses left to give.
        case exceedsAddresses
        /// The host refuses it with this error.
        case refused(error: Int32, SandboxRefusal)
        /// It maps a file as code: whether it may depends on the file, whose descriptor this is.
        case code(descriptor: Int32)
    }

    var call: Call
    /// In bytes, of which ``growth`` are new.
    var length: UInt64
    var growth: UInt64
    var protection: UInt64 = 0
    /// Of `mmap`.
    var flags: UInt64 = 0
    var descriptor: Int32 = -1

    init(_ call: Call, _ attempt: csandbox_attempt) {
        self.call = call
        (length, growth) = (attempt[1], attempt[1])
        switch call {
        case .map:
            (protection, flags, descriptor) = (attempt[2], attempt[3], attempt.number(4))
            // What it takes the place of is given back, and the kernel knows how much of that there is.
            if flags & SystemCalls.Mapping.fixed != 0 { growth = 0 }
        case .protect: protection = attempt[2]
        case .remap:
            length = attempt[2]
            growth = length > attempt[1] ? length - attempt[1] : 0
        }
    }

    /// - Parameters:
    ///   - allowsNewCode: Whether memory that was written may become code.
    ///   - memory: How much the worker has; `nil` if nobody knows.
    ///   - policy: Its limits.
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

/// A limit of a worker that is not its memory.
enum ResourceLimit: Sendable {
    /// Open descriptors.
    case descriptors
    /// Timers and queued signals, which the kernel counts per user.
    case signals

    /// The report that a worker has reached it; `nil` if there is room for one more.
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
