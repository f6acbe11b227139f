// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation

extension CheckContext {
    /// The divisor that determines the warm-up: the first third of the rounds fills caches.
    private static let warmUp = 3

    /// The growth per round, in KiB, that is not accidental, and the minimum total growth.
    private static let noticeableGrowth = 16.0
    private static let graveGrowth = 100.0
    private static let leastGrowth = 4096.0

    /// The number of rounds after which a slow check stops repeating.
    private static let leastRounds = 30

    /// Repeats the same requests and measures the memory.
    func checkMemoryGrowth() async throws(ExtensionError) -> CheckResult {
        let offers = offers(settings.sampleSize)
        let identifiers = sample(5).map(\.uniqueIdentifier)
        guard !offers.isEmpty || survey.isServed else { return nothing("there is nothing to request") }
        var counting = configuration
        // In an extension that has its own code, the extension and its libraries share the heap.
        counting.countsLibraryMemory = !bundle.manifest.bindings.isEmpty
        return try await with(counting).withTrial { (trial) throws(ExtensionError) in
            try await trial.load()
            guard let process = trial.events.processes.last.map(ProcessView.init) else {
                return .skipped(reason: "its process cannot be inspected")
            }
            // Growth that stops is warm-up: of caches, malloc's arenas, or additional threads. On a
            // busy machine, it can last longer than the first series' warm-up.
            let first = try await memory(of: process, in: trial, offers, identifiers)
            let result = Self.judge(first, afterWarmUp: first.total.count / Self.warmUp)
            guard result != .passed, result.kind != .skipped else { return result }
            return Self.judge(try await memory(of: process, in: trial, offers, identifiers), afterWarmUp: 0)
        }
    }

    /// The memory of a process after each round of requests.
    struct MemorySeries {
        /// The anonymous memory of the process, in KiB.
        var total: [Double] = []
        /// The memory that the bindings' libraries hold, in KiB; empty if it was not measured.
        var ofLibraries: [Double] = []
    }

    /// Repeats the same requests and measures the memory after each round.
    private func memory(
        of process: ProcessView, in trial: Trial, _ offers: [TrialOffer], _ identifiers: [String]
    ) async throws(ExtensionError) -> MemorySeries {
        let elapsed = stopwatch(configuration.clock)
        var series = MemorySeries()
        for round in 0..<settings.rounds {
            guard round < Self.leastRounds || elapsed() < settings.repetitionTime else { break }
            if !offers.isEmpty { _ = try await trial.ask(offers[round % offers.count]) }
            if survey.isServed, round.isMultiple(of: 2) { try await trial.reindex(identifiers) }
            guard let memory = process.anonymousMemory else { continue }
            series.total.append(Double(memory))
            if let kept = trial.events.libraryMemory { series.ofLibraries.append(Double(kept) / 1024) }
        }
        return series
    }

    /// Judges the memory growth in a series, ignoring its first rounds.
    static func judge(_ series: MemorySeries, afterWarmUp warm: Int) -> CheckResult {
        let total = Array(series.total.dropFirst(warm))
        let libraries = Array(series.ofLibraries.dropFirst(warm))
        guard total.count >= 2 else { return .skipped(reason: "its memory cannot be read from /proc") }
        return judge(
            growth: slope(total), rounds: total.count,
            ofLibraries: libraries.count == total.count ? slope(libraries) : nil)
    }

    /// Judges the memory growth.
    ///
    /// - Parameters:
    ///   - growth: The growth of the process, in KiB per round.
    ///   - rounds: The number of rounds.
    ///   - libraries: The growth of the memory that the bindings' libraries hold, in KiB per round;
    ///     `nil` if it was not measured.
    static func judge(growth: Double, rounds: Int, ofLibraries libraries: Double?) -> CheckResult {
        let sum = growth * Double(rounds)
        guard growth > noticeableGrowth, sum > leastGrowth / 2 else { return .passed }
        var reason = "Its memory grows by \(Int(growth)) KiB with each round, by \(Int(sum)) KiB in \(rounds)."
        let isGrave = growth > graveGrowth && sum > leastGrowth
        guard let libraries else {
            let advice = """
                Find memory that is kept after an answer: unreleased items, buffers, observers. Use valgrind or the leak \
                sanitizer with --in-process.
                """
            return isGrave ? .failed(reason: reason, advice: advice) : .warning(reason: reason, advice: advice)
        }
        guard libraries > noticeableGrowth, libraries > growth / 4 else {
            reason +=
                " The libraries that it calls keep \(Int(max(0, libraries))) KiB of that; the rest is the worker's own."
            return .warning(
                reason: reason,
                advice:
                    "The bindings cannot change this. A worker is replaced before its memory runs out. Please report it."
            )
        }
        reason += " The libraries that it calls keep \(Int(libraries)) KiB of that."
        let advice = """
            Find results that the caller must free, and bind them as owned(FUNCTION), not as borrowed. If the header \
            names no such function, the library itself keeps the memory.
            """
        return isGrave ? .failed(reason: reason, advice: advice) : .warning(reason: reason, advice: advice)
    }

    /// Returns the growth per value in a series, ignoring its largest jump: the median of the
    /// slopes between both halves.
    ///
    /// A single jump is not growth: an allocator may, for example, take 4 MiB from the system at
    /// once. The largest step is therefore replaced with the median step.
    static func slope(_ values: [Double]) -> Double {
        let half = values.count / 2
        guard half > 0 else { return 0 }
        let steps = zip(values.dropFirst(), values).map { $0 - $1 }
        var values = values
        if steps.count >= leastSteps, let largest = steps.indices.max(by: { steps[$0] < steps[$1] }) {
            let excess = steps[largest] - steps.sorted()[steps.count / 2]
            for index in (largest + 1)..<values.count { values[index] -= excess }
        }
        let slopes = (0..<half).map { (values[$0 + values.count - half] - values[$0]) / Double(values.count - half) }
        return slopes.sorted()[half / 2]
    }

    /// The minimum number of steps for the largest step to be recognized as a jump.
    private static let leastSteps = 4

    /// The number of additional threads or descriptors above which the increase is not accidental.
    private static let tolerance = 8

    /// Repeats the same requests and counts threads, descriptors, processes and files.
    func checkLeftovers() async throws(ExtensionError) -> CheckResult {
        let offers = offers(settings.sampleSize)
        let identifiers = sample(2).map(\.uniqueIdentifier)
        guard !offers.isEmpty || survey.isServed else { return nothing("there is nothing to request") }
        typealias Seen = (findings: Findings, remains: [ProcessView])
        let (findings, remains) = try await withTrial { (trial) throws(ExtensionError) -> Seen in
            var findings = Findings()
            func round(_ number: Int) async throws(ExtensionError) {
                if !offers.isEmpty { _ = try await trial.ask(offers[number % offers.count]) }
                if survey.isServed { try await trial.reindex(identifiers) }
            }
            let elapsed = stopwatch(configuration.clock)
            for number in 0..<settings.rounds / 10 { try await round(number) }
            guard let process = trial.events.processes.last.map(ProcessView.init) else { return (findings, []) }
            let (threads, descriptors) = (process.threads ?? 0, process.descriptors)
            var rounds = 0
            while rounds < settings.rounds / 2,
                rounds < Self.leastRounds || elapsed() < settings.repetitionTime
            {
                try await round(rounds)
                rounds += 1
            }
            try await settle(trial)
            if let now = process.threads, now > threads + max(Self.tolerance, rounds / 4) {
                findings.fail(
                    "After \(rounds) rounds it has \(now) threads instead of \(threads).",
                    "End or reuse the threads of a request.")
            }
            if let descriptors, let now = process.descriptors, now > descriptors + max(Self.tolerance, rounds / 4) {
                findings.fail(
                    "After \(rounds) rounds it has \(now) descriptors open instead of \(descriptors).",
                    "Close the files of a request, even after an error.")
            }
            return (findings, process.descendants)
        }
        var all = findings
        let alive = remains.filter(\.isAlive)
        if !alive.isEmpty {
            all.fail(
                "\(alive.count) processes that it started still run after the end of its own process.",
                "Do the work in the extension itself: a complete sandbox blocks new processes."
            )
        } else if !remains.isEmpty {
            all.warn(
                "It starts processes.", "Do the work in the extension itself: a complete sandbox blocks new processes.")
        }
        return all.result
    }

    /// The maximum number of lines for one round of requests.
    private static let readableLines = 500

    /// Counts the printed and logged lines.
    func checkOutputVolume() async throws(ExtensionError) -> CheckResult {
        try await withTrial { (trial) throws(ExtensionError) in
            try await workOut(trial, isBrief: true)
            try await settle(trial)
            let lines = trial.events.lines + (survey.isLarge(settings) ? survey.lines : 0)
            guard lines > Self.readableLines else { return .passed }
            return .warning(
                reason: """
                    It printed or logged \(lines) lines in one round of requests. The last lines: \
                    \(trial.events.lastLines.map(\.quoted).joined(separator: ", ")).
                    """,
                advice: "Log only skipped items with the reason, and totals. Only 20000 lines are stored.")
        }
    }

    /// Reports the rules that were broken in this check and in all earlier ones.
    func checkMisuse() async throws(ExtensionError) -> CheckResult {
        try await withTrial { (trial) throws(ExtensionError) in
            try await workOut(trial, isBrief: true)
            try await settle(trial)
        }
        var findings = Findings()
        for sighting in whole.misuses {
            findings.fail(
                "\(sighting.text) (\(sighting.times), first in \(sighting.check.rawValue))",
                "The host prevented the damage. See the comment of the function in searchlight_extension.h.")
        }
        return findings.result
    }

    /// Reports the sandbox denials in all checks so far, which are often the reason for a failed
    /// reindex.
    func checkSandbox() async throws(ExtensionError) -> CheckResult {
        if survey.problem == nil {
            try await withTrial { (trial) throws(ExtensionError) in
                try await workOut(trial, isBrief: true)
                try await settle(trial)
            }
        }
        var findings = Findings()
        for sighting in whole.refusals {
            findings.fail(
                "\(sighting.text) (\(sighting.times), first in \(sighting.check.rawValue))",
                advice(on: sighting))
        }
        return findings.result
    }

    private func advice(on sighting: EventRecord.Sighting) -> String {
        if sighting.text.contains("family unix") {
            return """
                No manifest grants this. Often a library connects to a service of the desktop or the system, such as D-Bus or \
                a name service. Foundation's attributesOfItem and resourceValues, getpwuid and NSUserName need no service.
                """
        }
        let whoAsks = "Find the caller; often it is a library."
        switch sighting.remedy ?? .none {
        case .none: return "No manifest grants this. \(whoAsks)"
        case .readablePaths, .writablePaths, .allowsNetwork, .memoryLimit:
            return """
                If it needs this, declare it in the manifest (Searchlight: ReadablePaths, WritablePaths, AllowsNetwork, \
                MemoryLimit). Otherwise, find the caller; often it is a library.
                """
        case .temporaryFolder: return "No manifest grants this. Write into $TMPDIR, the worker's own folder."
        case .madeBefore:
            return
                "It is declared and did not exist. Create it before workers start: during installation, or by the app."
        case .otherMachines: return "No manifest grants this machine's own addresses. \(whoAsks)"
        case .tcpAlone: return "AllowsNetwork grants only TCP. \(whoAsks)"
        case .noServers: return "No extension may be a server. \(whoAsks)"
        }
    }
}
