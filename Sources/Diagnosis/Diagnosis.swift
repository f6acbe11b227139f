// SPDX-License-Identifier: Apache-2.0

/// The findings about a machine, computed only from facts, so that tests can supply them.
package struct Diagnosis: Hashable, Sendable {
    /// All findings, in the order of ``Finding/Area``.
    package let findings: [Finding]

    /// Returns the number of findings with this level.
    package func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// Computes the findings from the facts.
    package init(_ facts: MachineFacts) {
        func part<Part>(
            _ area: Finding.Area, _ name: String, _ what: String, _ part: Part?, _ judge: (Part) -> [Finding]
        ) -> [Finding] {
            if let part { return judge(part) }
            let seconds = Int(facts.patience.rounded(.up))
            return [
                .problem(
                    area, "\(name).silent", "The check of \(what) did not end within \(seconds) s.",
                    costs: "This part is unknown, and commands that use it may hang, too.",
                    advice: "Find a disk or server that does not respond (“df” hangs at it), and unmount it."
                )
            ]
        }
        var parts = part(.kernel, "kernel", "the kernel", facts.kernel, KernelChecks.findings)
        parts += part(.machine, "machine", "the machine's sensors", facts.sensors, MachineChecks.findings)
        parts += part(.programs, "programs", "programs", facts.programs, ProgramChecks.findings)
        parts += part(.store, "store", "the store", facts.store, StoreChecks.findings)
        parts += part(.service, "service", "the service", facts.service) {
            ServiceChecks.findings($0, facts.programs?.version)
        }
        parts += part(
            .service, "activation", "the activation of the service", facts.activation, ActivationChecks.findings)
        parts += part(.extensions, "extensions", "extensions", facts.extensions, ExtensionChecks.findings)
        let order = Finding.Area.allCases
        findings = order.flatMap { area in parts.filter { $0.area == area } }
    }
}
