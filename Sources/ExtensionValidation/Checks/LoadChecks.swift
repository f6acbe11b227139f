// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation

extension CheckContext {
    /// The maximum number of measurements. One quick load is enough, because the machine may be
    /// busy.
    private static let loads = 10

    /// How long a worker may take from its start to its first answer before it is told, in milliseconds: the bars of the
    /// design, for a machine as fast as that of the design.
    private var expectedLoad: Double { bundle.manifest.principalClass == nil ? 10 : 25 }
    /// How many times as long as an extension that does nothing another may take.
    static let loadFactor = 2.5

    /// Measures how long a worker takes to its first answer, beside one whose extension does nothing.
    func checkLoadTime() async throws(ExtensionError) -> CheckResult {
        let baseline = BaselineBundle(loadsFramework: bundle.manifest.principalClass != nil)
        var (quickest, least) = (Double.infinity, Double.infinity)
        for _ in 0..<Self.loads {
            let duration = try await withTrial { (trial) throws(ExtensionError) in try await loading(of: trial) }
            quickest = min(quickest, duration)
            if quickest <= expectedLoad { return .passed }
            // By turns, so that both meet the same machine.
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

    /// Judges how long an extension takes to its first answer.
    ///
    /// - Parameters:
    ///   - load: The least time of several, in milliseconds.
    ///   - baseline: The same of an extension that does nothing, on this machine at the same time; `nil` if it could not be measured.
    ///   - expected: What is quick enough anyway.
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
                A person waits for it. Do nothing while the library is loaded or the extension is created that can be done \
                with the first request. A build without optimisation is slower too.
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
                    "It donated or deleted \(trial.items.donations) times although nothing was asked.",
                    "Donate when a reindex is asked for; create only prepares.")
            }
            if trial.events.lines > 20 {
                findings.warn(
                    "It said \(trial.events.lines) lines although nothing was asked.",
                    "Say what concerns a request with that request.")
            }
            return findings.result
        }
    }

    /// The time for a worker to end after its host has disconnected.
    private static let hangUpGrace = Duration.seconds(2)

    /// Checks that the process ends by itself.
    func checkHangUp() async throws(ExtensionError) -> CheckResult {
        let events = EventRecord(check, partOf: whole, onLine: settings.onLine)
        let hasEnded = try await HangUpTrial.endsByItself(
            bundle, configuration, receiver: DonationCollector(), within: Self.hangUpGrace,
            onEvent: { events.take($0) })
        guard !hasEnded else { return .passed }
        return .failed(
            reason: "Its process lived on after the host had gone, and had to be ended.",
            advice: "Do not catch or block signals, and do not keep the process from ending.")
    }
}
