// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// What a service costs that has a store and nothing to do: how often it is woken, and its memory.
struct IdleBenchmarks {
    let folder: String
    let seed: UInt64
    let items: Int
    let seconds: Int

    /// For looking only at whether it is woken at all.
    static let fewItems = 500
    static let shortSeconds = 15
    private static let itemsPerDonation = 500
    /// The time that a client has for its first call, to which libdispatch wakes even when it has gone, and until the service
    /// rests again. What the start itself leaves to be done takes less.
    private static let rest = Duration.seconds(25)
    /// How long a service is watched that has something to do. Not until the job is let through for its age.
    private static let waitingSeconds = 240

    func run() async throws -> [Measurement] {
        let place = folder + "/idle"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let resting = try await resting(in: place)
        // What a busy machine costs cannot be told in a few seconds.
        return seconds < 60 ? resting : resting + (try await waiting(in: place))
    }

    /// A service that has nothing to do.
    private func resting(in place: String) async throws -> [Measurement] {
        try await fill(place + "/store")

        let service = try ServiceProcess(store: place + "/store")
        defer { service.stop() }
        try await Task.sleep(for: Self.rest)
        let before = Self.switches(service.identifier)
        try await Task.sleep(for: .seconds(seconds))
        let after = Self.switches(service.identifier)
        guard !after.isEmpty, let memory = Self.memory(service.identifier) else {
            throw BenchmarkError("The service ended while it was watched; \(place)/store.log may say why.")
        }
        let with = "with \(items) items"
        return [
            Measurement(
                name: "wake-ups of an idle service in \(seconds) s, \(with)",
                value: Double(Self.wakeUps(before, after)), unit: "", row: .wakeUps),
            Measurement(
                name: "private memory of an idle service, \(with)", value: memory.ownKilobytes / 1024, unit: "MiB",
                row: .privateMemory),
            Measurement(
                name: "resident memory of an idle service, \(with)", value: memory.residentKilobytes / 1024,
                unit: "MiB", row: .residentMemory),
            Measurement(
                name: "service ready after its start, \(with)", value: service.startUp / .milliseconds(1), unit: "ms"),
        ]
    }

    /// A service that has something to do, on a machine that has no time for it: a program computes on each processor.
    ///
    /// A wake-up is a moment at which any of its threads is switched. Threads that wake each other then are one, and so is what
    /// is seen with the next look, a second later; not what is seen after that. The switches are told beside it.
    private func waiting(in place: String) async throws -> [Measurement] {
        let backlog = try Backlog(place: place + "/waiting", seed: seed)
        let hogs = try (0..<sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in try Hog() }
        defer { for hog in hogs { hog.stop() } }
        let service = try backlog.beginLater()
        defer { service.end() }
        // It may begin before the load was measured, and stands still then.
        try await Task.sleep(for: Self.rest)
        var before = Self.switches(service.identifier)
        var (moments, switches, isSameMoment) = (0, 0, false)
        let end = ContinuousClock.now + .seconds(Self.waitingSeconds)
        while ContinuousClock.now < end {
            try await Task.sleep(for: .seconds(1))
            let after = Self.switches(service.identifier)
            let more = Self.wakeUps(before, after)
            let isNew = more > 0 && !isSameMoment
            if isNew { moments += 1 }
            (switches, isSameMoment, before) = (switches + more, isNew, after)
        }
        guard !before.isEmpty, service.waits else {
            throw BenchmarkError("What was to wait did not, or the service ended while it was watched.")
        }
        let minutes = Double(Self.waitingSeconds) / 60
        let what = "of a service with a job that waits for a processor, in \(Self.waitingSeconds) s"
        return [
            Measurement(
                name: "wake-ups a minute \(what)", value: Double(moments) / minutes, unit: "", row: .waitingWakeUps),
            Measurement(
                name: "switches of its threads a minute", value: Double(switches) / minutes, unit: ""),
        ]
    }

    /// Has another service fill the store, so that the one that is looked at has only been started.
    private func fill(_ store: String) async throws {
        let service = try ServiceProcess(store: store)
        defer { service.stop() }
        let app = try await ServiceApp(store: store, bundle: "com.example.idle")
        var random = SplitMix64(seed: seed)
        for start in stride(from: 0, to: items, by: Self.itemsPerDonation) {
            try await app.send(
                try ServiceBenchmarks.request(start, min(Self.itemsPerDonation, items - start), &random))
        }
    }

    /// How often each thread was switched, of its own accord or not.
    private static func switches(_ process: pid_t) -> [String: Int] {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.reduce(into: [:]) { switches, thread in
            let status = (try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)) ?? ""
            // voluntary_ctxt_switches and nonvoluntary_ctxt_switches
            for line in status.split(separator: "\n") where line.contains("voluntary_ctxt_switches:") {
                switches[thread, default: 0] += Int(line.split(whereSeparator: \.isWhitespace).last ?? "") ?? 0
            }
        }
    }

    /// Threads that came count with all of theirs, those that went with one.
    static func wakeUps(_ before: [String: Int], _ after: [String: Int]) -> Int {
        after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) } + before.keys.count { after[$0] == nil }
    }

    private static func memory(_ process: pid_t) -> (ownKilobytes: Double, residentKilobytes: Double)? {
        let lines = (try? String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8))?.split(
            separator: "\n")
        func value(_ name: String) -> Double? {
            lines?.first { $0.hasPrefix(name + ":") }?.split(whereSeparator: \.isWhitespace).dropFirst().first
                .flatMap { Double($0) }
        }
        guard let clean = value("Private_Clean"), let dirty = value("Private_Dirty"), let resident = value("Rss") else {
            return nil
        }
        return (clean + dirty, resident)
    }
}
