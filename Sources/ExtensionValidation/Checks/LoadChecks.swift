// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation

extension CheckContext {
    /// The maximum number of measurements. One fast load is enough, because the machine may be
    /// busy.
    private static let loads = 10

    /// The expected time from a worker's start to its first answer, in milliseconds. These are the
    /// performance targets, which apply to the reference machine.
    private var expectedLoad: Double {
        if bundle.manifest.principalClass != nil { return 25 }
        let needed = bundle.libraryPath.flatMap { SharedLibraryFile(at: $0) }?.needed ?? []
        return needed.contains { $0.hasPrefix("libpython") } ? 60 : 10
    }
    /// The accepted load time, as a multiple of the load time of an empty extension.
    static let loadFactor = 2.5

    /// Measures the time until a worker's first answer, and compares it with the time for an empty
    /// extension.
    func checkLoadTime() async throws(ExtensionError) -> CheckResult {
        let baseline = BaselineBundle(loadsFramework: bundle.manifest.principalClass != nil)
        var (quickest, least) = (Double.infinity, Double.infinity)
        for _ in 0..<Self.loads {
            let duration = try await withTrial { (trial) throws(ExtensionError) in try await loading(of: trial) }
            quickest = min(quickest, duration)
            if quickest <= expectedLoad { return .passed }
            // Measurements alternate, so that both extensions experience the same load on the
            // machine.
            if let bundle = baseline?.bundle {
                let trial = Trial(bundle, configuration, events: EventRecord(check))
                if let duration = try? await loading(of: trial) { least = min(least, duration) }
                await trial.close()
            }
        }
        return Self.judge(load: quickest, baseline: least.isFinite ? least : nil, expected: expectedLoad)
    }

    private func loading(of trial: Trial) async throws(ExtensionError) -> Double {
        var failure: ExtensionError?
        let duration = await configuration.clock.measure {
            failure = await ExtensionError.of { () throws(ExtensionError) in try await trial.load() }
        }
        if let failure { throw failure }
        return duration.milliseconds
    }

    /// Judges the time from the start of an extension's worker to its first answer.
    ///
    /// - Parameters:
    ///   - load: The shortest of several times, in milliseconds.
    ///   - baseline: The shortest time for an empty extension, in milliseconds, measured
    ///     alternately on this machine; `nil` if it could not be measured.
    ///   - expected: The time that is always accepted, in milliseconds.
    static func judge(load: Double, baseline: Double?, expected: Double) -> CheckResult {
        let limit = max(expected, (baseline ?? 0) * loadFactor)
        guard load > limit else { return .passed }
        let usual =
            if let baseline {
                "an extension of its kind that does nothing takes \(String(format: "%.1f", baseline)) ms on this machine"
            } else {
                "\(Int(expected)) ms are usual for an extension of its kind"
            }
        return .warning(
            reason: """
                From the start of its process to its first answer it took \(String(format: "%.1f", load)) ms; \(usual).
                """,
            advice: """
                The user waits for this. Move work from loading and creation to the first request. An unoptimised build is \
                slower, too.
                """)
    }

    /// Loads the extension without a request, and checks that it stays idle.
    func checkQuietCreation() async throws(ExtensionError) -> CheckResult {
        try await withTrial { (trial) throws(ExtensionError) in
            await trial.prewarm()
            await wait(settings.quietTime)
            try await trial.load()
            var findings = Findings()
            if trial.items.donations > 0 {
                findings.fail(
                    "It donated or deleted \(trial.items.donations) times without a request.",
                    "Donate only during a request to reindex; create must only prepare.")
            }
            if trial.events.lines > 20 {
                findings.warn(
                    "It printed or logged \(trial.events.lines) lines without a request.",
                    "Print and log only during requests.")
            }
            return findings.result
        }
    }

    /// The time within which a worker must exit after its host has disconnected.
    private static let hangUpGrace = Duration.seconds(2)

    /// Checks that the process exits on its own.
    func checkHangUp() async throws(ExtensionError) -> CheckResult {
        let events = EventRecord(check, partOf: whole, onLine: settings.onLine)
        let hasEnded = try await OrphanedWorkerCheck.endsByItself(
            bundle, configuration, receiver: DonationCollector(), within: Self.hangUpGrace,
            onEvent: { events.take($0) })
        guard !hasEnded else { return .passed }
        return .failed(
            reason: "Its process continued after the end of the host, and was killed.",
            advice: "Do not catch or block signals, and do not delay the end of the process.")
    }
}
