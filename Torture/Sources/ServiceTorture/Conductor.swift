// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import TortureSupport

/// Runs the torture in segments. In each segment, the clients work while random faults occur. Then
/// all faults end, the guarantees are checked (``InvariantCheck``), and store files are damaged
/// while the service is stopped (``DamageTrial``).
final class Conductor {
    struct Settings {
        var seconds: Int
        var replacements: Int
        var segmentSeconds: Int { max(2, min(20, seconds / 4)) }
    }

    /// The kinds of faults.
    private enum Fault: CaseIterable {
        case killService, stopService, killWorker, killClient, fullDisk, readOnlyDisk, refusedStart, setClock,
            setClockFar
    }
    /// The frequency of each fault, in percent.
    private static let shares: [Fault: Int] = [
        .killService: 12, .stopService: 4, .killWorker: 34, .killClient: 24, .fullDisk: 8, .readOnlyDisk: 6,
        .refusedStart: 3, .setClock: 7, .setClockFar: 2,
    ]
    /// The faults that stop the service. Every other segment has none of them, to reveal memory or
    /// descriptor leaks.
    private static let withoutService: Set<Fault> = [.killService, .stopService, .refusedStart]

    private let place: TorturePlace
    private let settings: Settings
    private let seed: UInt64
    private let report = TortureReport()
    private let clock = ContinuousClock()
    private var random: SplitMix64
    private var state = TortureState()

    init(_ place: TorturePlace, settings: Settings, seed: UInt64) {
        (self.place, self.settings, self.seed) = (place, settings, seed)
        random = SplitMix64(seed: seed)
    }

    /// - Returns: `true` if there was no violation.
    func run() async -> Bool {
        // The time limit for the whole run, in case anything hangs.
        let report = report
        let limit = Duration.seconds(settings.seconds * 2 + 240)
        let watch = Task.detached {
            try await Task.sleep(for: limit)
            report.complain("the torture did not come to an end within \(limit)")
            print(report.summary)
            for process in ProcessFacts.descendants(of: getpid()) { Glibc.kill(process, SIGKILL) }
            _exit(1)
        }
        defer { watch.cancel() }
        do {
            try place.prepare()
            try await segments()
        } catch {
            report.complain("the torture cannot continue: \(error)")
        }
        for process in ProcessFacts.descendants(of: getpid()) { Glibc.kill(process, SIGKILL) }
        report.read(place)
        lookAtSuccesses()
        print(report.summary)
        return !report.hasFailed
    }

    /// Reports work that never succeeded, whose checks could not fail.
    private func lookAtSuccesses() {
        for (kind, tried, done) in [(ClientKind.commander, "opening", "opened"), (.chooser, "using ", "used ")] {
            let lines = place.lines(ofClients: kind)
            let attempts = lines.count { $0.hasPrefix(tried) }
            guard attempts >= Self.attemptsWithSuccess, !lines.contains(where: { $0.hasPrefix(done) }) else { continue }
            report.complain("of \(attempts) lines “\(tried)” of a \(kind), none succeeded")
        }
    }
    /// The number of attempts of which one must succeed.
    private static let attemptsWithSuccess = 20

    private func segments() async throws {
        let disk = SmallDisk(place)
        defer { disk.allowWriting() }
        if !disk.isMounted {
            report.say(
                "Nothing can be mounted here, so no full or read-only disk is tried. Run as root, or allow user namespaces."
            )
        }
        let service = ServiceProcess(place, report)
        defer { service.kill() }
        let replacer = Replacer(place, report, seed: random.next())
        let end = clock.now + .seconds(settings.seconds)
        let segments = max(2, settings.seconds / (settings.segmentSeconds * 3 / 2))
        for number in 0..<segments where number < 2 || clock.now < end {
            let left = settings.replacements - report.count(of: "replacements")
            let count = max(0, number + 1 == segments ? left : (left + segments - number - 1) / (segments - number))
            report.say("Segment \(number + 1) of \(segments)\(number % 2 == 0 ? "" : ", without killing the service")")
            try await segment(number, service, disk, replacer, replacements: count)
            try await rest(service, disk, replacer)
            let check = InvariantCheck(place, service, report, state)
            try await check.run(replacer)
            try await check.afterTheEnd()
            try await DamageTrial(place, service, report).run(&state, &random)
        }
        // Makes the replacements that are still outstanding.
        while report.count(of: "replacements") < settings.replacements { try replacer.replaceOne() }
    }

    /// Runs the clients while random faults occur.
    private func segment(
        _ number: Int, _ service: ServiceProcess, _ disk: SmallDisk, _ replacer: Replacer, replacements: Int
    ) async throws {
        guard try await service.start() else { throw TortureProblem("the service does not start") }
        try installModel()
        let clients = ClientPool(place, report)
        defer { clients.endAll() }
        try clients.start(epoch: state.epoch, &random)
        let excluded = number % 2 == 0 ? [] : Self.withoutService
        let faults = Fault.allCases.filter { !excluded.contains($0) }
            .flatMap { Array(repeating: $0, count: Self.shares[$0] ?? 0) }
        let begin = clock.now
        let length = Duration.seconds(settings.segmentSeconds)
        var replaced = 0
        while clock.now - begin < length || replaced < replacements {
            try await Task.sleep(for: .milliseconds(10 + random.below(120)))
            // As many replacements as the elapsed share of the time requires.
            let share = min(1, (clock.now - begin) / length)
            while replaced < replacements, Double(replaced) < share * Double(replacements) || share >= 1 {
                try replacer.replaceOne()
                replaced += 1
            }
            service.look()
            service.measure()
            if service.identifier == nil { _ = try await service.start() }
            try clients.look(epoch: state.epoch, &random)
            reapOrphans()
            if random.below(3) == 0 { try await breakSomething(random.pick(faults), service, clients, disk) }
        }
    }

    /// Installs the embedding model, which may have been damaged.
    private func installModel() throws {
        let (ending, output) = try ChildProcess.run(
            place.products + "/searchlight", ["semantic", "install", place.model], environment: place.environment)
        if ending != .exited(0) { report.complain("the model cannot be installed (\(ending)): \(output)") }
    }

    private func breakSomething(
        _ fault: Fault, _ service: ServiceProcess, _ clients: ClientPool, _ disk: SmallDisk
    ) async throws {
        switch fault {
        case .killService:
            service.kill()
            // Sometimes the service stays stopped for a while.
            if random.below(3) == 0 { try await Task.sleep(for: .milliseconds(random.below(600))) }
            _ = try await service.start()
        case .stopService:
            await service.stop()
            _ = try await service.start()
        case .killWorker: service.killWorker(random.below(1000))
        case .killClient: try clients.killOne(epoch: state.epoch, &random)
        case .fullDisk:
            guard disk.isMounted else { return }
            disk.fill(leaving: random.pick([0, 0, 8 << 10, 100 << 10, 400 << 10]))
            report.count("times the disk was full")
            try await pause(service, upTo: 1500)
            disk.free()
        case .readOnlyDisk:
            guard disk.forbidWriting() else { return }
            report.count("times the store was read-only")
            try await pause(service, upTo: 1500)
            disk.allowWriting()
        case .refusedStart:
            guard disk.isMounted else { return }
            service.kill()
            if random.below(2) == 0 { disk.fill(leaving: random.below(60 << 10)) } else { _ = disk.forbidWriting() }
            _ = try await service.start(mayRefuse: true)
            try await pause(service, upTo: 500)
            disk.free()
            disk.allowWriting()
            // If the service started, the store that it opened is one that it could not write.
            service.kill()
            _ = try await service.start()
        case .setClock, .setClockFar:
            let isFar = fault == .setClockFar
            state.hasClockBeenFar = state.hasClockBeenFar || isFar
            let sizes: [Int64] = isFar ? [40 * 86400, 400 * 86400, 7000 * 86400] : [1, 90, 7000, 86400, 11 * 86400]
            place.setClock(to: random.pick(sizes) * (random.below(2) == 0 ? 1 : -1))
            report.count("times the clock was set")
        }
    }

    /// Waits for a random time, during which a worker may be killed.
    private func pause(_ service: ServiceProcess, upTo milliseconds: Int) async throws {
        try await Task.sleep(for: .milliseconds(50 + random.below(milliseconds)))
        if random.below(3) == 0 { service.killWorker(random.below(1000)) }
    }

    /// Ends all faults: frees the disk, permits writing, resets the clock, installs good extensions
    /// and starts the service.
    private func rest(_ service: ServiceProcess, _ disk: SmallDisk, _ replacer: Replacer) async throws {
        disk.free()
        disk.allowWriting()
        place.setClock(to: 0)
        try replacer.makeGood()
        service.look()
        guard try await service.start() else { throw TortureProblem("the service does not start") }
    }

    /// Reaps orphans, whose new parent is this process.
    private func reapOrphans() {
        for process in ProcessFacts.ended(childrenOf: getpid()) { ChildProcess.reapInherited(process) }
    }
}

/// The state that carries over between segments.
struct TortureState {
    /// The current epoch. A new epoch starts when damage has lost donated items.
    var epoch = 0
    /// `true` if items with an expiration date may have expired.
    var hasClockBeenFar = false
    /// The number of acknowledged reindexes per ledger that are no longer considered.
    var ledgersBefore: [String: Int] = [:]
    /// The counts of use after the last damage. Damage may lose earlier counts.
    var usesBefore = UseCounts()
}
