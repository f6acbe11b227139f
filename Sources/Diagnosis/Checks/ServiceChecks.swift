// SPDX-License-Identifier: Apache-2.0

/// Checks that the service is running and belongs to the same release as this command.
enum ServiceChecks {
    static func findings(_ facts: ServiceStateFacts, _ version: String?) -> [Finding] {
        switch facts.listener {
        case .noSocket:
            [
                .note(
                    .service, "running", "No service runs for this store.",
                    costs: "Apps have no index, and no background work is done. Commands open the index themselves.",
                    advice: "systemctl --user enable --now searchlightd.service, or run searchlightd.")
            ]
        case .nobody:
            [
                .note(
                    .service, "running", "The store has a socket, and no process listens on it.",
                    costs: "Apps have no index, and no background work is done.",
                    advice:
                        "systemctl --user restart searchlightd.socket, or run searchlightd, which replaces the socket."
                )
            ]
        case .other:
            [.ok(.service, "running", "The service does not run; it starts on demand.")]
        case .service(let process): answer(facts, process, version)
        }
    }

    private static func answer(_ facts: ServiceStateFacts, _ process: Int32, _ version: String?) -> [Finding] {
        var findings: [Finding] = []
        let restart = "Stop it; it starts again on demand: searchlight service stop"
        switch facts.answer {
        case .facts(let said):
            findings.append(
                .ok(.service, "running", "The service \(said.version) runs (process \(process)) and answers."))
            if let version, said.version != version {
                findings.append(
                    .problem(
                        .service, "version",
                        "The service has version \(said.version), and this command \(version).",
                        costs: "Requests may fail.", advice: restart))
            } else if facts.isReplaced {
                findings.append(
                    .note(
                        .service, "version", "The program of the service was replaced after its start.",
                        costs: "The service still runs the old version.", advice: restart))
            }
            findings += said.followed.map(FollowedFileChecks.findings) ?? []
            findings += said.protectionNotes.map { note in
                .note(
                    .service, "session-locks", note,
                    costs: "Protected items stay unlocked until “searchlight lock” or the end of the service.",
                    advice: "Start the service with your desktop session, then: searchlight unlock")
            }
        case .failure(let reason):
            findings.append(
                .problem(
                    .service, "running", "The service (process \(process)) does not answer. \(reason)",
                    costs: "Commands and apps fail or wait.",
                    advice: "systemctl --user restart searchlightd, or end the process and run searchlightd."))
        case nil: break
        }
        if let limit = facts.descriptorLimit, limit < KernelChecks.wantedDescriptors {
            findings.append(
                .note(
                    .service, "service-descriptors", "The service may have \(limit) files open.",
                    costs: "It serves about \(max(1, (limit - 64) / 5)) apps at a time instead of 128.",
                    advice: "Set LimitNOFILE=1024 for it: systemctl --user edit searchlightd.service"))
        }
        return findings
    }
}
