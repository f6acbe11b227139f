// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord

/// What a check knows and may use.
struct CheckContext: Sendable {
    let check: ValidationCheck
    let bundle: ExtensionBundle
    let configuration: WorkerConfiguration
    let settings: ValidationSettings
    /// What the extension donates, found out once before the checks that need it.
    let survey: Survey
    /// What was seen in all checks so far.
    let whole: EventRecord

    /// The choices of this check.
    var generator: SeededGenerator { SeededGenerator(seed: settings.seed, for: check) }

    /// Waits, for what must not happen.
    func wait(_ duration: Duration) async { try? await configuration.clock.sleep(for: duration) }

    /// Runs a body with a fresh process of the extension, which ends with it. A crash that the host got over is a crash.
    ///
    /// - Parameter leftover: What the extension finds in its index besides what it donates.
    func withTrial<Value: Sendable>(
        leftover: [DonationCollector.Name: ItemRecord] = [:], _ body: (Trial) async throws(ExtensionError) -> Value
    ) async throws(ExtensionError) -> Value {
        let events = EventRecord(check, partOf: whole, onLine: settings.onLine)
        let known = survey.items.merging(leftover) { known, _ in known }
        let trial = Trial(bundle, configuration, events: events, known: known)
        let result: Result<Value, ExtensionError>
        do throws(ExtensionError) { result = .success(try await body(trial)) } catch { result = .failure(error) }
        await trial.close()
        if let crash = events.crashes.first { throw crash }
        return try result.get()
    }

    /// The items to ask about, chosen by the seed.
    func sample(_ count: Int) -> [ItemRecord] {
        var generator = generator
        return generator.sample(survey.records, count)
    }
}

/// What an extension donates when everything is asked for.
struct Survey: Sendable {
    /// The items of all indexes, in the order of their names.
    var items: [DonationCollector.Name: ItemRecord] = [:]
    /// Why there is none.
    var problem: ExtensionError?
    /// Whether the extension serves a reindex.
    var isServed = true

    /// The records, in the order of their names.
    var records: [ItemRecord] { items.sorted { $0.key < $1.key }.map(\.value) }

    static func make(_ context: CheckContext) async -> Survey {
        do throws(ExtensionError) {
            return try await context.withTrial { (trial) throws(ExtensionError) in
                try await trial.reindexEverything()
                return Survey(items: trial.items.items)
            }
        } catch {
            if case .failed(_, _, .unsupported, "") = error { return Survey(isServed: false) }
            return Survey(problem: error)
        }
    }
}
