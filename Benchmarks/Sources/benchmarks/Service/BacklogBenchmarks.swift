// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Measures the cost of a background reindex on an idle machine.
struct BacklogBenchmarks {
    let folder: String
    let seed: UInt64

    private static let pairs = 6
    /// The time limit for an idle machine to start the reindex, and to finish it.
    private static let patience = Duration.seconds(120)

    /// Alternates a background reindex on an idle machine with a reindex by a user's command. Each
    /// background run is compared with the runs before and after it.
    func run() async throws -> [Measurement] {
        let place = folder + "/backlog"
        try? FileManager.default.removeItem(atPath: place)
        let backlog = try Backlog(place: place, seed: seed)
        var person = [try byPerson(backlog)]
        var background: [Double] = []
        for _ in 0..<Self.pairs {
            background.append(try await inBackground(backlog))
            person.append(try byPerson(backlog))
        }
        try? FileManager.default.removeItem(atPath: place)
        let around = zip(person, person.dropFirst())
        let ratio = Percentiles(zip(background, around).map { $0 / (($1.0 + $1.1) / 2) })
        let noise = Percentiles(around.map { min($0, $1) / max($0, $1) })
        let rate = Percentiles(person).p50
        func measurement(_ name: String, _ ratio: Double, beside baseline: String, row: Row? = nil) -> Measurement {
            Measurement(
                name: name, value: rate * ratio, unit: "items/s", baseline: baseline, baselineValue: rate, row: row)
        }
        return [
            measurement(
                "the backlog in the background of an idle machine (median of \(Self.pairs))", ratio.p50,
                beside: "searchlight reindex, before and after", row: .backgroundRate),
            measurement(
                "… two by searchlight reindex, the slower (median)", noise.p50, beside: "the quicker"),
        ]
    }

    /// Returns the number of items per second.
    private func inBackground(_ backlog: Backlog) async throws -> Double {
        // Writes back pending data from earlier runs first.
        sync()
        let service = try await backlog.begin()
        defer { service.end() }
        let rate = Double(Backlog.items) / (try await service.reindexed(within: Self.patience))
        let pauses = service.pauses == 0 ? "" : ", and it was paused \(service.pauses) times"
        Progress.say("  in the background: \(Int(rate)) items a second\(pauses)")
        return rate
    }

    private func byPerson(_ backlog: Backlog) throws -> Double {
        sync()
        let rate = Double(Backlog.items) / (try backlog.reindexByPerson())
        Progress.say("  for the user:      \(Int(rate)) items a second")
        return rate
    }
}
