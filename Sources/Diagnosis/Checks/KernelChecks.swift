// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

/// Checks the kernel's support for sandboxes and for idle priorities.
enum KernelChecks {
    static func findings(_ facts: KernelFacts) -> [Finding] {
        sandbox(facts) + abilities(facts) + [descriptors(facts)]
    }

    /// The sandbox protections, with the consequence of their absence and the kernel version that
    /// introduced them.
    private static let protections: [(SandboxProtections, name: String, what: String, cost: String, since: String)] = [
        (
            .files, "landlock", "Landlock", "An extension can read and change all your files, including the index.",
            "Linux 5.13, and “landlock” in the kernel's lsm= parameter"
        ),
        (
            .truncation, "landlock-truncation", "Landlock's right to truncate",
            "An extension can truncate files without write access.", "Linux 6.2"
        ),
        (
            .tcp, "landlock-tcp", "Landlock's rules for TCP",
            "Only the system call filter blocks the network.", "Linux 6.7"
        ),
        (
            .devices, "landlock-devices", "Landlock's control of devices",
            "An extension can send commands to a device that it opened.", "Linux 6.10"
        ),
        (
            .scopes, "landlock-scopes", "Landlock's scopes",
            "Only the system call filter blocks signals to your other programs.", "Linux 6.12"
        ),
        (
            .code, "write-or-execute", "memory that cannot become executable",
            "A flaw in an extension's library is easier to exploit.", "Linux 6.3"
        ),
        (
            .systemCalls, "seccomp", "filters of system calls (seccomp)",
            "An extension can start programs and use the network.", "a kernel with CONFIG_SECCOMP_FILTER"
        ),
        (
            .telling, "seccomp-notices", "notifications of refused system calls",
            "“searchlight status” cannot show refused attempts of extensions, and extensions cannot change file modes.",
            "Linux 5.5"
        ),
    ]

    private static func sandbox(_ facts: KernelFacts) -> [Finding] {
        guard !facts.isSandboxOff else {
            return [
                .problem(
                    .kernel, "sandbox", "SEARCHLIGHT_SANDBOX=off is set, so extensions run without a sandbox.",
                    costs: "An extension has all your rights.",
                    advice: "Unset the variable: unset SEARCHLIGHT_SANDBOX")
            ]
        }
        if let problem = facts.filterProblem {
            return [
                .problem(
                    .kernel, "libseccomp", "\(problem).", costs: "No extension can be started.",
                    advice: "Install libseccomp (Debian: libseccomp2).")
            ]
        }
        let missing = protections.filter { !facts.protections.contains($0.0) }
        guard !missing.isEmpty else {
            return [
                .ok(
                    .kernel, "sandbox",
                    "Linux \(facts.release) supports the complete sandbox: Landlock \(facts.landlockRevision), seccomp."
                )
            ]
        }
        return missing.map { protection, name, what, cost, since in
            let fact = "Linux \(facts.release) lacks \(what)."
            let advice = "Use \(since)."
            // Without Landlock rules for files, or without seccomp, an extension is not confined at
            // all.
            return protection == .files || protection == .systemCalls
                ? .problem(.kernel, name, fact, costs: cost, advice: advice)
                : .note(.kernel, name, fact, costs: cost, advice: advice)
        }
    }

    private static let missingAbilities: [(KernelAbilities, name: String, fact: String, cost: String, advice: String)] =
        [
            (
                .processHandles, "process-handles", "Process descriptors (pidfd_getfd) are not available.",
                "Extensions cannot replace their files atomically, as Foundation does.",
                "Use Linux 5.6; in a container, allow pidfd_getfd."
            ),
            (
                .openBeneath, "open-beneath", "Files cannot be opened beneath a folder (openat2).",
                "Promised folders cannot be dropped.",
                "Use Linux 5.6; in a container, allow openat2."
            ),
            (
                .folderWatch, "folder-watch", "The kernel's limit of watched folders is reached (inotify).",
                "The service does not notice when extensions are added, replaced or removed.",
                "End programs that watch many folders, or raise fs.inotify.max_user_instances with sysctl."
            ),
            (
                .idleProcessor, "idle-processor", "The scheduling class SCHED_IDLE is refused.",
                "Background work takes processor time from your programs.",
                "In a container, allow sched_setscheduler."
            ),
            (
                .idleDisk, "idle-disk", "The idle I/O class is refused.",
                "Background work reads and writes with normal priority.",
                "In a container, allow ioprio_set."
            ),
        ]

    private static func abilities(_ facts: KernelFacts) -> [Finding] {
        var findings = missingAbilities.filter { !facts.abilities.contains($0.0) }.map { _, name, fact, cost, advice in
            Finding.note(.kernel, name, fact, costs: cost, advice: advice)
        }
        if let scope = facts.tracingScope, scope >= 2 {
            findings.append(
                .note(
                    .kernel, "tracing-scope",
                    "kernel.yama.ptrace_scope is \(scope), so a host cannot inspect its workers.",
                    costs:
                        "Refused attempts are logged without file names, and extensions cannot change file modes.",
                    advice: "If no other program needs this value: sysctl kernel.yama.ptrace_scope=1"))
        }
        if findings.isEmpty {
            findings = [
                .ok(.kernel, "abilities", "Background work can run at idle priority, and folders can be watched.")
            ]
        }
        return findings
    }

    /// The number of descriptors for 128 connections with five descriptors each, plus the process's
    /// other needs.
    static let wantedDescriptors = 704
    /// With fewer descriptors, a command cannot even open its index, its write-ahead log and a few
    /// workers.
    static let leastDescriptors = 128

    private static func descriptors(_ facts: KernelFacts) -> Finding {
        let limit = facts.descriptorLimit
        guard limit < wantedDescriptors else {
            return .ok(
                .kernel, "descriptors",
                "A program may have \(limit == Int.max ? "any number of" : "\(limit)") files open.")
        }
        let fact = "A program may have \(limit) files open (RLIMIT_NOFILE)."
        let advice = "Raise it: ulimit -n 1024, or LimitNOFILE= in the unit."
        return limit < leastDescriptors
            ? .problem(
                .kernel, "descriptors", fact, costs: "The index or its workers cannot be opened.", advice: advice)
            : .note(
                .kernel, "descriptors", fact,
                costs:
                    "A service that starts with this limit serves about \(max(1, (limit - 64) / 5)) apps at a time instead of 128.",
                advice: advice)
    }
}
