// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord

/// The data and helpers for a check.
struct CheckContext: Sendable {
    let check: ValidationCheck
    let bundle: ExtensionBundle
    var configuration: WorkerConfiguration
    let settings: ValidationSettings
    /// The items that the extension donates, determined once before the checks that need them.
    var survey = Survey()
    /// The events in all checks so far.
    let whole: EventRecord
    /// The requests that failed, without items, and the check that reports each of them.
    let failures: [String: ValidationCheck]

    /// The random choices of this check.
    var generator: SeededGenerator { SeededGenerator(seed: settings.seed, for: check) }

    /// Returns this context with a different worker configuration.
    func with(_ configuration: WorkerConfiguration) -> CheckContext {
        var context = self
        context.configuration = configuration
        return context
    }

    /// Returns this context with the result of the survey.
    func with(_ survey: Survey) -> CheckContext {
        var context = self
        context.survey = survey
        return context
    }

    /// Returns the requests that have not failed in an earlier check.
    func unfailed(_ offers: [TrialOffer]) -> [TrialOffer] { offers.filter { failures[$0.purpose] == nil } }

    /// Returns the result of a check that has no requests, apart from those that fail.
    func nothing(_ reason: String) -> CheckResult {
        guard let first = ValidationCheck.allCases.first(where: failures.values.contains) else {
            return .skipped(reason: reason)
        }
        return .skipped(reason: "\(reason), apart from requests that fail (see \(first.rawValue))")
    }

    /// Waits for events that must not happen.
    func wait(_ duration: Duration) async { try? await configuration.clock.sleep(for: duration) }

    /// Runs a closure with a new process for the extension, which is terminated afterwards. Throws
    /// a crash error even if the host has recovered from it.
    ///
    /// - Parameter leftover: Items that the extension's index also contains.
    func withTrial<Value: Sendable>(
        leftover: [DonationCollector.Name: ItemRecord] = [:], _ body: (Trial) async throws(ExtensionError) -> Value
    ) async throws(ExtensionError) -> Value {
        let events = EventRecord(check, partOf: whole, onLine: settings.onLine)
        let known = survey.items.merging(leftover) { known, _ in known }
        let trial = Trial(
            bundle, configuration, events: events, known: known, sampleItems: settings.sampleItems,
            onItems: { [settings, check] in settings.onItems(check, $0) })
        let result: Result<Value, ExtensionError>
        do throws(ExtensionError) { result = .success(try await body(trial)) } catch { result = .failure(error) }
        await trial.close()
        if let crash = events.crashes.first { throw crash }
        return try result.get()
    }

    /// Returns a sample of the items, chosen by the seed.
    func sample(_ count: Int) -> [ItemRecord] {
        var generator = generator
        return generator.sample(survey.records, count)
    }
}

/// The items that an extension donates in a full reindex.
struct Survey: Sendable {
    /// The items in all indexes, by name.
    let items: [DonationCollector.Name: ItemRecord]
    /// The records, sorted by name.
    let records: [ItemRecord]
    /// The error if the items could not be determined.
    let problem: ExtensionError?
    /// `true` if the extension supports reindexing.
    let isServed: Bool
    /// `true` if the extension has more items than those in the sample.
    let isSample: Bool
    /// The number of items that exceed ``DonationCollector/Limits``.
    let unkept: Int
    /// The number of printed and logged lines during the survey.
    let lines: Int

    init(
        items: [DonationCollector.Name: ItemRecord] = [:], problem: ExtensionError? = nil, isServed: Bool = true,
        isSample: Bool = false, unkept: Int = 0, lines: Int = 0
    ) {
        self.items = items
        records = items.sorted { $0.key < $1.key }.map(\.value)
        self.problem = problem
        self.isServed = isServed
        self.isSample = isSample || unkept > 0
        self.unkept = unkept
        self.lines = lines
    }

    /// Returns `true` if a full reindex takes too long to repeat in each check, because the
    /// extension has more items than a sample.
    func isLarge(_ settings: ValidationSettings) -> Bool {
        settings.sampleItems > 0 && items.count > settings.sampleItems
    }

    static func make(_ context: CheckContext) async -> Survey {
        do throws(ExtensionError) {
            return try await context.withTrial { (trial) throws(ExtensionError) in
                let extent = try await trial.reindexEverything()
                return Survey(
                    items: trial.items.items, isSample: !extent.isWhole, unkept: trial.items.unkept,
                    lines: trial.events.lines)
            }
        } catch {
            if case .failed(_, _, .unsupported, "") = error { return Survey(isServed: false) }
            return Survey(problem: error)
        }
    }
}
