// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

/// Checks the kernel's support for sandboxes and for idle priorities.
enum KernelChecks {
    static func findings(_ facts: KernelFacts) -> [Finding] {
        sandbox(facts) + abilities(facts) + [descriptors(facts)]
    }

    /// The sandbox protections, with the cost of their absence and the kernel version that
    /// introduced them.
    private static let protections: [(SandboxProtections, name: String, what: String, cost: String, since: String)] = [
        (
            .files, "landlock", "Landlock", "An extension can read and change every file that you can, the index too.",
            "Linux 5.13, and “landlock” among the kernel's lsm="
        ),
        (
            .truncation, "landlock-truncation", "Landlock's right to truncate",
            "An extension can empty files that it may not write.", "Linux 6.2"
        ),
        (
            .tcp, "landlock-tcp", "Landlock's rules for TCP",
            "Only the filter of system calls keeps extensions from the network.", "Linux 6.7"
        ),
        (
            .devices, "landlock-devices", "Landlock's control of devices",
            "An extension can send commands to a device that it may open.", "Linux 6.10"
        ),
        (
            .scopes, "landlock-scopes", "Landlock's scopes",
            "Only the filter of system calls keeps extensions from signals to your other programs.", "Linux 6.12"
        ),
        (
            .code, "write-or-execute", "memory that cannot become code",
            "A flaw in an extension's library is easier to make use of.", "Linux 6.3"
        ),
        (
            .systemCalls, "seccomp", "filters of system calls (seccomp)",
            "An extension can start programs and use the network.", "a kernel with CONFIG_SECCOMP_FILTER"
        ),
        (
            .telling, "seccomp-notices", "notices of refused system calls",
            "“searchlight status” cannot tell what extensions tried, and they cannot change the modes of their files.",
            "Linux 5.5"
        ),
    ]

    private static func sandbox(_ facts: KernelFacts) -> [Finding] {
        guard !facts.isSandboxOff else {
            return [
                .problem(
                    .kernel, "sandbox", "SEARCHLIGHT_SANDBOX=off is set, so that nothing confines extensions.",
                    costs: "An extension may do whatever you may.",
                    advice: "Unset the variable: unset SEARCHLIGHT_SANDBOX")
            ]
        }
        let missing = protections.filter { !facts.protections.contains($0.0) }
        guard !missing.isEmpty else {
            return [
                .ok(
                    .kernel, "sandbox",
                    "Linux \(facts.release) confines extensions by all there is: Landlock \(facts.landlockRevision), seccomp."
                )
            ]
        }
        return missing.map { protection, name, what, cost, since in
            let fact = "Linux \(facts.release) does not have \(what)."
            let advice = "It takes \(since)."
            // Without Landlock rules for files or without seccomp, an extension is not confined at
            // all.
            return protection == .files || protection == .systemCalls
                ? .problem(.kernel, name, fact, costs: cost, advice: advice)
                : .note(.kernel, name, fact, costs: cost, advice: advice)
        }
    }

    private static let missingAbilities: [(KernelAbilities, name: String, fact: String, cost: String, advice: String)] =
        [
            (
                .processHandles, "process-handles", "Descriptors of processes (pidfd_getfd) cannot be had.",
                "Extensions cannot replace files of theirs in one step, as Foundation does.",
                "It takes Linux 5.6; in a container, a filter that lets pidfd_getfd through."
            ),
            (
                .openBeneath, "open-beneath", "Files cannot be opened strictly below a folder (openat2).",
                "A folder that an extension promises cannot be dropped.",
                "It takes Linux 5.6; in a container, a filter that lets openat2 through."
            ),
            (
                .folderWatch, "folder-watch", "The kernel lets nobody watch one more folder (inotify).",
                "The service does not notice when extensions are added, replaced or removed.",
                "End programs that watch much, or raise fs.inotify.max_user_instances with sysctl."
            ),
            (
                .idleProcessor, "idle-processor", "The class SCHED_IDLE is refused.",
                "Work in the background takes processor time from your programs.",
                "In a container, allow sched_setscheduler."
            ),
            (
                .idleDisk, "idle-disk", "The idle class of disks is refused.",
                "Work in the background reads and writes as if you had asked for it.",
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
                    "kernel.yama.ptrace_scope is \(scope), so that a host cannot look into its workers.",
                    costs:
                        "What extensions tried is told without names, and they cannot change the modes of their files.",
                    advice: "If nothing else needs it: sysctl kernel.yama.ptrace_scope=1"))
        }
        if findings.isEmpty {
            findings = [
                .ok(.kernel, "abilities", "Work in the background can give way, and folders can be watched.")
            ]
        }
        return findings
    }

    /// The number of descriptors for 128 connections with five descriptors each, plus the other
    /// needs of the process.
    static let wantedDescriptors = 704
    /// With fewer descriptors, not even a command can open its index, its write-ahead log and a few
    /// workers.
    static let leastDescriptors = 128

    private static func descriptors(_ facts: KernelFacts) -> Finding {
        let limit = facts.descriptorLimit
        guard limit < wantedDescriptors else {
            return .ok(
                .kernel, "descriptors",
                "A program may have \(limit == Int.max ? "any number of" : "\(limit)") files open.")
        }
        let fact = "A program may have \(limit) files open here (RLIMIT_NOFILE)."
        let advice = "Raise it: ulimit -n 1024, or LimitNOFILE= in the unit."
        return limit < leastDescriptors
            ? .problem(
                .kernel, "descriptors", fact, costs: "The index or its workers cannot be opened.", advice: advice)
            : .note(
                .kernel, "descriptors", fact,
                costs:
                    "A service started from here takes about \(max(1, (limit - 64) / 5)) apps at a time instead of 128.",
                advice: advice)
    }
}
