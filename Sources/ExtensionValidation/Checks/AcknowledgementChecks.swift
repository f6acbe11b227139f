// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

extension CheckContext {
    /// Sends each kind of request once.
    func checkAcknowledgement() async throws(ExtensionError) -> CheckResult {
        if let problem = survey.problem { throw problem }
        return try await withTrial { (trial) throws(ExtensionError) in
            if survey.isServed {
                try await trial.reindex(sample(3).map(\.uniqueIdentifier))
                try await trial.reindex([])
            }
            for offer in offers(2) { _ = try await trial.ask(offer) }
            guard survey.isServed || !survey.records.isEmpty else { return .skipped(reason: "it serves no reindex") }
            guard survey.unkept > 0 else { return .passed }
            let limits = DonationCollector.Limits()
            return .warning(
                reason: """
                    It donated \(survey.unkept) items that were not checked: a validation stores \(limits.items) items of \
                    \(limits.bytes >> 20) MiB in all.
                    """,
                advice: """
                    This is a limit of the validation, not of the extension. Donate fewer items if \
                    \(ValidationSettings.sampleVariable) is set, or serve searchlight.paging/1.
                    """)
        }
    }

    /// Sends requests and waits for unexpected second answers.
    func checkDoubleAcknowledgement() async throws(ExtensionError) -> CheckResult {
        try await withTrial { (trial) throws(ExtensionError) in
            try await workOut(trial)
            try await settle(trial)
            var findings = Findings()
            for sighting in trial.events.misuses where sighting.isSecondAnswer {
                findings.fail(
                    "\(sighting.text) (\(sighting.times))",
                    """
                    The second answer has no effect, and shows an error in the code: answer in one place, or return after \
                    the answer.
                    """)
            }
            return findings.result
        }
    }

    /// Sends many requests concurrently, so that answers come from several threads, late and out of
    /// order.
    func checkLateAcknowledgement() async throws(ExtensionError) -> CheckResult {
        let offers = Array(offers(4).prefix(16))
        return try await withTrial { (trial) throws(ExtensionError) in
            let identifiers = sample(5).map(\.uniqueIdentifier)
            let results = await withTaskGroup(of: ExtensionError?.self) { group in
                if survey.isServed {
                    if !survey.isLarge(settings) {
                        group.addTask {
                            await ExtensionError.of { () throws(ExtensionError) in try await trial.reindexEverything() }
                        }
                    }
                    group.addTask {
                        await ExtensionError.of { () throws(ExtensionError) in try await trial.reindex(identifiers) }
                    }
                }
                for offer in offers {
                    group.addTask {
                        await ExtensionError.of { () throws(ExtensionError) in _ = try await trial.ask(offer) }
                    }
                }
                return await group.reduce(into: [ExtensionError?]()) { $0.append($1) }
            }
            if let problem = ExtensionError.first(of: results) { throw problem }
            // The answers above must not have consumed later answers.
            if let offer = offers.first { _ = try await trial.ask(offer) }
            return .passed
        }
    }
}

extension ExtensionError {
    static func of(_ body: () async throws(ExtensionError) -> Void) async -> ExtensionError? {
        do throws(ExtensionError) { try await body() } catch { return error }
        return nil
    }

    /// Returns the first error of concurrent requests: a cause, before its consequences.
    static func first(of errors: [ExtensionError?]) -> ExtensionError? {
        let errors = errors.compactMap(\.self)
        return errors.first { !$0.isConsequence } ?? errors.first
    }
}
