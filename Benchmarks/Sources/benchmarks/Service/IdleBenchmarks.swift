// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport

/// Measures the cost of an idle service that has a store: wake-ups and memory.
struct IdleBenchmarks {
    let folder: String
    let seed: UInt64
    let items: Int
    let seconds: Int

    /// The number of items in a short run, which checks only whether there are any wake-ups.
    static let fewItems = 500
    static let shortSeconds = 15
    private static let itemsPerDonation = 500
    /// The time until the service rests. A client has this long for its first call, and libdispatch
    /// wakes at the end of that time even if the client has disconnected. The rest of the start
    /// takes less.
    private static let rest = Duration.seconds(25)
    /// The duration, in seconds, for which a service with a pending job is observed. It is less
    /// than the age at which the job starts in any case.
    private static let waitingSeconds = 240

    func run() async throws -> [Measurement] {
        let place = folder + "/idle"
        try? FileManager.default.removeItem(atPath: place)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: place) }
        let resting = try await resting(in: place)
        // A short run cannot measure the cost on a busy machine.
        return seconds < 60 ? resting : resting + (try await waiting(in: place))
    }

    /// Measures a service without pending work.
    private func resting(in place: String) async throws -> [Measurement] {
        try await fill(place + "/store")

        let service = try ServiceProcess(store: place + "/store")
        defer { service.stop() }
        try await Task.sleep(for: Self.rest)
        let before = Self.switches(service.identifier)
        try await Task.sleep(for: .seconds(seconds))
        let after = Self.switches(service.identifier)
        guard !after.isEmpty, let memory = Self.memory(service.identifier) else {
            throw BenchmarkError("The service ended during the measurement; \(place)/store.log may say why.")
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

    /// Measures a service with pending work on a busy machine: one program computes on each
    /// processor.
    ///
    /// A wake-up is a point in time at which any of the service's threads is switched. Threads that
    /// wake each other count as one wake-up, and so do switches in two successive samples, which
    /// are a second apart. A switch in the next sample counts as a new wake-up. The number of
    /// switches is also reported.
    private func waiting(in place: String) async throws -> [Measurement] {
        let backlog = try Backlog(place: place + "/waiting", seed: seed)
        let hogs = try (0..<sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { _ in try Hog() }
        defer { for hog in hogs { hog.stop() } }
        let service = try backlog.beginLater()
        defer { service.end() }
        // The job may start before the first load sample. By the end of this time it is paused.
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
            throw BenchmarkError("The pending work did not wait, or the service ended during the measurement.")
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

    /// Fills the store with another service, so that the measured service has done nothing except
    /// start.
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

    /// Returns the number of voluntary and involuntary context switches of each thread.
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

    /// Returns the number of switches between two samples. For a new thread, all its switches are
    /// counted; for a thread that has exited, one.
    static func wakeUps(_ before: [String: Int], _ after: [String: Int]) -> Int {
        after.reduce(0) { $0 + $1.value - (before[$1.key] ?? 0) } + before.keys.count { after[$0] == nil }
    }

    /// Returns the memory of a process, in kilobytes; `nil` if the process is gone.
    static func memory(_ process: pid_t) -> (ownKilobytes: Double, residentKilobytes: Double)? {
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
