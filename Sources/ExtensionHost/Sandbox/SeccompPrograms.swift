// SPDX-License-Identifier: Apache-2.0
import CSandbox
import CSeccomp
import Glibc
import Synchronization

/// The seccomp filters as BPF programs. They are compiled once per host process, so that a worker
/// only has to load one (0.1 ms instead of 0.4 ms).
package struct SeccompPrograms: Hashable, Sendable {
    /// The filter that forwards calls to the host if they are not allowed. The host denies and
    /// reports these calls.
    package var telling: [UInt8]
    /// The filter that denies by itself, for kernels that cannot forward calls.
    package var plain: [UInt8]

    /// The version of libseccomp that this process uses.
    package static var libraryVersion: String {
        guard let version = seccomp_version()?.pointee else { return "that cannot be opened" }
        return "\(version.major).\(version.minor).\(version.micro)"
    }

    /// The reason why libseccomp cannot be used; `nil` if it can.
    package static var libraryProblem: String? { cseccomp_problem().map { String(cString: $0) } }

    private struct Kind: Hashable {
        var allowsNetwork: Bool
        var allowsNewCode: Bool
    }
    /// The compiled filters. libseccomp is not documented as thread-safe, so its use is protected
    /// by this lock too.
    private static let compiled = Mutex<[Kind: SeccompPrograms?]>([:])

    /// Returns the filters for a policy; `nil` if libseccomp cannot make them here.
    ///
    /// - Parameter problem: The reason why libseccomp cannot be used.
    /// - Throws: ``ExtensionError/workerUnavailable(reason:)`` if the policy filters system calls
    ///   and the library is missing. A worker without the filter could use the network.
    package static func programs(
        for policy: SandboxPolicy, problem: String? = libraryProblem
    ) throws(ExtensionError) -> SeccompPrograms? {
        if let problem, policy.protections.contains(.systemCalls) {
            throw .workerUnavailable(
                reason:
                    "\(problem). It filters the system calls of extensions. Install libseccomp (Debian: libseccomp2).")
        }
        let kind = Kind(allowsNetwork: policy.allowsNetwork, allowsNewCode: policy.allowsNewCode)
        return compiled.withLock { compiled in
            if let known = compiled[kind] { return known }
            let telling = compile(kind, asksHost: true)
            let plain = compile(kind, asksHost: false)
            // If there is no forwarding filter, its program is empty, and the worker loads the
            // other one.
            let programs = plain.map { SeccompPrograms(telling: telling ?? [], plain: $0) }
            compiled[kind] = .some(programs)
            return programs
        }
    }

    /// `SCMP_ACT_…`, which are macros with arguments, so Swift does not import them.
    private enum Action {
        static let allow: UInt32 = 0x7FFF_0000
        static let askHost: UInt32 = 0x7FC0_0000
        static let kill: UInt32 = 0x8000_0000
        static func fail(_ code: Int32) -> UInt32 { 0x0005_0000 | UInt32(code) }
    }

    private static func compile(_ kind: Kind, asksHost: Bool) -> [UInt8]? {
        let rest = asksHost ? Action.askHost : Action.fail(ENOSYS)
        guard let context = seccomp_init(rest) else { return nil }
        defer { seccomp_release(context) }
        // Other ABIs (32 bits, x32) have different call numbers, so their calls would bypass the
        // list. No worker needs them.
        guard seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, Action.kill) == 0 else { return nil }
        // A binary tree instead of a chain of comparisons. Older versions ignore the option.
        _ = seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2)

        var isComplete = true
        func add(_ action: UInt32, _ name: String, _ conditions: [SystemCalls.Condition] = []) {
            let number = seccomp_syscall_resolve_name(name)
            // The call does not exist on this architecture or is too new for this libseccomp.
            guard number >= 0 else { return }
            let compared = conditions.map { condition in
                scmp_arg_cmp(
                    arg: condition.argument, op: SCMP_CMP_MASKED_EQ, datum_a: condition.mask, datum_b: condition.value)
            }
            let code = seccomp_rule_add_array(context, action, number, UInt32(compared.count), compared)
            if code != 0 { isComplete = false }
        }
        var open = SystemCalls.allowed
        if kind.allowsNewCode { open += SystemCalls.newCode }
        // The filter cannot see the arguments of openat2. If it fails, all programs use openat.
        if !asksHost { open += SystemCalls.files.filter { $0 != "openat2" } + SystemCalls.limited }
        for name in open { add(Action.allow, name) }
        let conditional = SystemCalls.conditional(
            allowsNetwork: kind.allowsNetwork, allowsNewCode: kind.allowsNewCode, asksHost: asksHost)
        for rule in conditional { add(Action.allow, rule.name, rule.conditions) }
        for name in SystemCalls.unreported { add(Action.fail(EPERM), name) }
        if !asksHost {
            // glibc creates threads with clone if clone3 does not exist. The filter cannot see the
            // flags of clone3.
            let known = Set(open + conditional.map(\.name) + ["clone3"])
            let refused = SystemCalls.refused.flatMap(\.1) + SystemCalls.attributes
            for name in refused where !known.contains(name) { add(Action.fail(EPERM), name) }
        }
        return isComplete ? exported(context) : nil
    }

    private static func exported(_ context: scmp_filter_ctx) -> [UInt8]? {
        let file = csandbox_memory_file()
        guard file >= 0 else { return nil }
        defer { close(file) }
        guard seccomp_export_bpf(context, file) == 0 else { return nil }
        let size = Int(lseek(file, 0, SEEK_END))
        guard size > 0, size % 8 == 0, size / 8 <= Int(CSANDBOX_MAXIMUM_INSTRUCTIONS) else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        return pread(file, &bytes, size, 0) == size ? bytes : nil
    }
}
