// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import Promises
import ServiceMessages
import Synchronization

extension CheckContext {
    /// The delays before a request is cancelled: none, and while it runs.
    private static let cancelDelays: [Duration] = [.zero, .milliseconds(1), .milliseconds(10)]

    /// Cancels requests of each kind, and then sends further requests.
    func checkCancellation() async throws(ExtensionError) -> CheckResult {
        let offers = Array(offers(2).prefix(6))
        return try await withTrial { (trial) throws(ExtensionError) in
            var findings = Findings()
            for delay in Self.cancelDelays {
                if survey.isServed {
                    try await cancel("a reindex", after: delay, in: trial, &findings) { () throws(ExtensionError) in
                        try await trial.reindexEverything()
                    }
                }
                for offer in offers {
                    try await cancel("\(offer)", after: delay, in: trial, &findings) { () throws(ExtensionError) in
                        _ = try await trial.ask(offer)
                    }
                }
            }
            if survey.isServed, !survey.isLarge(settings) { try await trial.reindexEverything() }
            return findings.result
        }
    }

    /// Cancels one request and checks that the process survives.
    ///
    /// - Parameter delay: The time from the start of the request to its cancellation. A positive
    ///   delay is extended to at least twice the round-trip time to the process. Otherwise, on a
    ///   busy machine, the request would be cancelled before the extension receives it.
    private func cancel(
        _ what: String, after delay: Duration, in trial: Trial, _ findings: inout Findings,
        _ body: @escaping @Sendable () async throws(ExtensionError) -> Void
    ) async throws(ExtensionError) {
        let elapsed = stopwatch(configuration.clock)
        try await trial.load()
        let roundTrip = elapsed()
        let processes = trial.events.processes.count
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let request = Task {
            start.finish()
            return await ExtensionError.of(body)
        }
        if delay > .zero {
            for await _ in started {}
            await wait(max(delay, roundTrip * 2))
        }
        request.cancel()
        switch await request.value {
        case nil, .cancelled: break
        case .failed(_, _, .cancelled, _): break
        case let problem?: throw problem
        }
        // A request is needed to start a new process.
        try await trial.load()
        guard trial.events.processes.count > processes, findings.isEmpty else { return }
        findings.warn(
            "It continued after \(what) was cancelled, so its process was ended.",
            """
            Check is_cancelled of searchlight.cancel/1 regularly (in Swift: Task.isCancelled), and finish the request with \
            SEARCHLIGHT_CANCELLED. Otherwise its pending donations are lost, and the next request waits for a new process.
            """)
    }

    /// The time within which the extension must react to a notice, in milliseconds, as the header
    /// requires.
    private static let throttleGrace = 500.0

    /// Throttles the extension and ends the throttling, with requests in between.
    func checkThrottle() async throws(ExtensionError) -> CheckResult {
        let offers = Array(offers(2).prefix(4))
        return try await withTrial { (trial) throws(ExtensionError) in
            try await trial.load()
            var findings = Findings()
            // The fastest reaction is used. A slow one may be the machine's fault, but an extension
            // that works inside the call is always slow.
            var quickest = Double.infinity
            let notices = [
                ThrottleNotice(reason: .userActive, itemsPerSecond: 10), ThrottleNotice(reason: .battery),
                ThrottleNotice(reason: .pressure, itemsPerSecond: 1),
            ]
            let some = sample(500).map(\.uniqueIdentifier)
            for notice in notices {
                let heeded = await configuration.clock.measure { _ = await trial.throttle(notice) }
                quickest = min(quickest, heeded.milliseconds)
                // Throttling does not affect interactive requests, so they must be answered.
                for offer in offers { _ = try await trial.ask(offer) }
                let (isServed, isLarge) = (survey.isServed, survey.isLarge(settings))
                let work = Task {
                    await ExtensionError.of { () throws(ExtensionError) in
                        if isServed, isLarge { try await trial.reindex(some) }
                        if isServed, !isLarge { try await trial.reindexEverything() }
                    }
                }
                await wait(settings.quietTime)
                _ = await trial.throttle(nil)
                if let problem = await work.value { throw problem }
            }
            if quickest > Self.throttleGrace {
                findings.warn(
                    "It took at least \(Int(quickest)) ms each time to handle a notice.",
                    "Only set a flag in did_throttle; the time limit is half a second.")
            }
            // Repeated notices, and an end without a start.
            _ = await trial.throttle(ThrottleNotice(reason: .requested))
            _ = await trial.throttle(ThrottleNotice(reason: .requested))
            _ = await trial.throttle(nil)
            _ = await trial.throttle(nil)
            if survey.isServed { try await trial.reindex(sample(3).map(\.uniqueIdentifier)) }
            if findings.hasNoFailure, !survey.isSample, !survey.isLarge(settings) {
                Self.compareIdentifiers(survey.items, trial.items.items, &findings)
            }
            return findings.result
        }
    }

    private static func compareIdentifiers(
        _ one: [DonationCollector.Name: ItemRecord], _ other: [DonationCollector.Name: ItemRecord],
        _ findings: inout Findings
    ) {
        let missing = one.keys.filter { other[$0] == nil }.sorted()
        guard let first = missing.first else { return }
        findings.fail(
            "A throttled reindex lacked \(missing.count) items, such as \(first.identifier.quoted).",
            "Slow down or wait, and donate the rest after the throttling, before you acknowledge.")
    }

    /// The number of concurrent requests.
    private static let width = 24

    /// Sends the same requests one after another and concurrently.
    func checkConcurrency() async throws(ExtensionError) -> CheckResult {
        let offers = Array(offers(settings.sampleSize).prefix(Self.width))
        guard !offers.isEmpty else { return nothing("there is nothing to request") }
        return try await withTrial { (trial) throws(ExtensionError) in
            var expected: [TrialOffer: ExtensionAnswer] = [:]
            for offer in offers { expected[offer] = try await trial.ask(offer) }
            // Answers that change without a cause are not compared.
            var stable: [TrialOffer] = []
            for offer in offers where try await trial.ask(offer).isLike(expected[offer]) { stable.append(offer) }
            // Not returned from the tasks, because optimised builds (Swift 6.3.1) would pass on an
            // uninitialised tuple.
            let answers = Answers()
            await withTaskGroup(of: Void.self) { group in
                for offer in offers {
                    group.addTask {
                        let answer: Result<ExtensionAnswer, ExtensionError>
                        do throws(ExtensionError) { answer = .success(try await trial.ask(offer)) } catch {
                            answer = .failure(error)
                        }
                        answers.kept.withLock { $0.append((offer, answer)) }
                    }
                }
            }
            var findings = Findings()
            let kept = answers.kept.withLock { $0 }
            let problems = kept.map { (_, result) -> ExtensionError? in
                if case .failure(let error) = result { error } else { nil }
            }
            if let problem = ExtensionError.first(of: problems) { throw problem }
            for (offer, result) in kept {
                let answer = try result.get()
                guard stable.contains(offer), !answer.isLike(expected[offer]) else { continue }
                let before = expected[offer]?.summary ?? "nothing"
                findings.fail(
                    """
                    \(offer) differs when \(offers.count) requests are in progress: \(answer.summary) instead of \(before)\
                    \(answer.summary == before ? ", with different contents" : "").
                    """,
                    "Keep the state of each request separate, and guard shared state with a lock.")
            }
            return findings.result
        }
    }

    /// Requests items that were never donated, with identifiers that break naive code.
    func checkFuzzedIdentifiers() async throws(ExtensionError) -> CheckResult {
        var generator = generator
        let known = survey.records.map(\.uniqueIdentifier)
        let types = survey.records.flatMap(\.promisedRepresentations).map(\.type) + ["public.utf8-plain-text"]
        var offers: [TrialOffer] = []
        for round in 0..<settings.fuzzRounds {
            let name = HostileIdentifiers.next(&generator, like: known)
            let type =
                round.isMultiple(of: 4)
                ? HostileIdentifiers.next(&generator, like: types) : types[generator.below(types.count)]
            let form = [Representation.Form.data, .file, .inPlaceFile][generator.below(3)]
            offers.append(
                TrialOffer(
                    item: name,
                    kind: round.isMultiple(of: 5)
                        ? .preview(contentPath: nil) : .promise(Representation(type: type, form: form))))
        }
        let chosen = offers
        return try await withTrial { (trial) throws(ExtensionError) in
            for offer in chosen { _ = try await trial.ask(offer) }
            if survey.isServed {
                for start in stride(from: 0, to: chosen.count, by: 20) {
                    try await trial.reindex(chosen[start..<min(start + 20, chosen.count)].map(\.item))
                }
            }
            return .passed
        }
    }
}

extension Findings {
    /// `true` if there are no findings.
    var isEmpty: Bool { result == .passed }
}

extension ExtensionAnswer {
    /// Returns `true` if two answers are equal, ignoring a failure's message.
    func isLike(_ other: ExtensionAnswer?) -> Bool {
        switch (self, other) {
        case (.refused(let one, _), .refused(let two, _)): one == two
        // A copy may have a different name each time.
        case (.file(_, let one, let head), .file(_, let two, let otherHead)): one == two && head == otherHead
        default: self == other
        }
    }
}

/// The answers to concurrent requests.
private final class Answers: Sendable {
    let kept = Mutex<[(TrialOffer, Result<ExtensionAnswer, ExtensionError>)]>([])
}
