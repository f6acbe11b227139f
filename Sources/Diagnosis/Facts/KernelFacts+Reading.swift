// SPDX-License-Identifier: Apache-2.0
import CSandbox
import ExtensionHost

extension KernelFacts {
    /// Probes the kernel on this thread. The thread must exit afterwards, since the probe leaves it
    /// at idle priority.
    init(_ roots: DiagnosisRoots) {
        let (protections, revision) = SandboxProtections.available()
        self.init(
            release: ProbedFile.word(roots.proc + "/sys/kernel/osrelease") ?? "of unknown release",
            protections: protections, landlockRevision: revision,
            isSandboxOff: WorkerConfiguration.SandboxMode(environment: roots.environment) == .off,
            abilities: KernelAbilities(rawValue: csandbox_probe()),
            tracingScope: ProbedFile.word(roots.proc + "/sys/kernel/yama/ptrace_scope").flatMap { Int($0) },
            descriptorLimit: Int(clamping: csandbox_descriptor_limit()), filterProblem: SeccompPrograms.libraryProblem)
    }
}
