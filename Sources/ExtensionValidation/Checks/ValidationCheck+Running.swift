// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

extension ValidationCheck {
    /// `true` if the check requests items, which the survey must find first.
    var needsSurvey: Bool {
        switch self {
        case .manifest, .loadTime, .quietCreation, .hangUp: false
        default: true
        }
    }

    /// Runs the check.
    ///
    /// - Throws: The ``ExtensionError`` that ended the check. The caller converts it to a result in
    ///   the same way for all checks.
    func run(_ context: CheckContext) async throws(ExtensionError) -> CheckResult {
        switch self {
        case .manifest: ManifestReview(context.bundle).result
        case .loadTime: try await context.checkLoadTime()
        case .quietCreation: try await context.checkQuietCreation()
        case .acknowledgement: try await context.checkAcknowledgement()
        case .doubleAcknowledgement: try await context.checkDoubleAcknowledgement()
        case .lateAcknowledgement: try await context.checkLateAcknowledgement()
        case .attributes: context.checkAttributes()
        case .reindexTwice: try await context.checkReindexTwice()
        case .reindexItems: try await context.checkReindexItems()
        case .goneItems: try await context.checkGoneItems()
        case .paging: try await context.checkPaging()
        case .unknownItems: try await context.checkUnknownItems()
        case .promises: try await context.checkPromises()
        case .unsupportedTypes: try await context.checkUnsupportedTypes()
        case .previews: try await context.checkPreviews()
        case .cancellation: try await context.checkCancellation()
        case .throttle: try await context.checkThrottle()
        case .concurrency: try await context.checkConcurrency()
        case .memoryGrowth: try await context.checkMemoryGrowth()
        case .leftovers: try await context.checkLeftovers()
        case .fuzzedIdentifiers: try await context.checkFuzzedIdentifiers()
        case .outputVolume: try await context.checkOutputVolume()
        case .hangUp: try await context.checkHangUp()
        case .misuse: try await context.checkMisuse()
        case .sandbox: try await context.checkSandbox()
        }
    }
}

extension CheckContext {
    /// Returns some promises and previews of sampled items, as requests for a check, without the
    /// requests that failed in an earlier check.
    func offers(_ items: Int) -> [TrialOffer] {
        unfailed(sample(items).flatMap { TrialOffer.promises(of: $0) + [TrialOffer.preview(of: $0)] })
    }

    /// Sends requests of all kinds: a full reindex, a reindex of some items, promises and previews.
    ///
    /// - Parameter isBrief: `true` to omit the full reindex if the extension has more items than a
    ///   sample, because the survey has already made one.
    func workOut(_ trial: Trial, isBrief: Bool = false) async throws(ExtensionError) {
        if survey.isServed, !(isBrief && survey.isLarge(settings)) { try await trial.reindexEverything() }
        let some = sample(3)
        if survey.isServed { try await trial.reindex(some.map(\.uniqueIdentifier)) }
        for offer in offers(3) { _ = try await trial.ask(offer) }
    }

    /// Waits for late messages, then sends one more request. A worker's messages arrive in order,
    /// so when this request is answered, all earlier messages have arrived.
    func settle(_ trial: Trial) async throws(ExtensionError) {
        await wait(settings.quietTime)
        var generator = generator
        _ = try await trial.ask(TrialOffer(item: generator.unusedName(), kind: .preview(contentPath: nil)))
    }
}
