// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Donations whose process is killed at random times. `Scripts/torture` runs more rounds.
@Suite("Torture", .serialized)
struct TortureTests {
    private static let rounds = TortureSettings.rounds ?? 15
    private static let seed = TortureSettings.seed

    @Test(
        "A killed donation leaves exactly the batches up to the last durable one", .timeLimit(.minutes(30)))
    func kills() throws {
        print("Torture: \(Self.rounds) rounds, seed \(Self.seed)")
        var random = SplitMix64(seed: Self.seed)
        var figures = TortureFigures()
        let clock = ContinuousClock()
        let begin = clock.now
        var run = try TortureRun()
        for round in 1...max(1, Self.rounds) {
            // A new store every 20 rounds, so that checking its whole content stays fast.
            if round % 20 == 0 { run = try TortureRun() }
            try run.round(&random, &figures, note: "round \(round), seed \(Self.seed)")
        }
        print("Torture: \(figures) in \(clock.now - begin)")
        #expect(figures.kills > 0, "No round was killed before its end, which tests nothing.")
    }
}

/// The totals of all rounds.
struct TortureFigures: CustomStringConvertible {
    var rounds = 0
    var kills = 0
    var killsBeforeFirst = 0
    var acknowledged = 0
    var durableUnacknowledged = 0
    var checkedItems = 0

    var description: String {
        """
        \(rounds) rounds, \(kills) killed (\(killsBeforeFirst) of them before their first batch), \
        \(acknowledged) batches acknowledged, \(durableUnacknowledged) rounds with a durable batch that was not yet \
        acknowledged, \(checkedItems) items checked
        """
    }
}

/// A store and its expected content.
struct TortureRun {
    private static let bundle = "org.example.torture"
    private static let batchesPerRound = 60

    private let command: Command
    /// The last batch that is known to be durable. Batches are numbered from 1.
    private var durable = 0

    init() throws { command = Command(harness: try Harness()) }

    private static func items(in batch: Int) -> Int { 1 + batch * 7 % 13 }

    /// Returns the lines of a batch: its items, an item that every batch replaces, and the end with
    /// the client state.
    private static func lines(_ batch: Int) -> String {
        let items = (0..<Self.items(in: batch)).map { item in
            """
            {"uniqueIdentifier": "b\(batch)-\(item)", "domainIdentifier": "batch.\(batch)", "expirationDate": "never", \
            "attributes": {"title": "Item \(item) of batch \(batch)", "pageCount": \(batch)}}

            """
        }
        return items.joined() + """
            {"uniqueIdentifier": "latest", "expirationDate": "never", "attributes": {"pageCount": \(batch)}}
            {"endBatch": {"clientState": "\(batch)"}}

            """
    }

    /// Donates many batches, kills the process, and checks the store.
    mutating func round(_ random: inout SplitMix64, _ figures: inout TortureFigures, note: String) throws {
        let range = durable + 1...durable + Self.batchesPerRound
        let input = command.harness.folder + "/input.jsonl"
        try Data(range.map(Self.lines).joined().utf8).write(to: URL(filePath: input))
        // Some processes are killed while they open the store, most during the batches.
        let acknowledgements = random.below(5) == 0 ? 0 : random.below(Self.batchesPerRound)
        let microseconds = acknowledgements == 0 ? random.below(40_000) : random.below(5_000)
        let (acknowledged, wasKilled) = try donate(input, killAfter: acknowledgements, microseconds: microseconds)
        figures.rounds += 1
        figures.kills += wasKilled ? 1 : 0
        figures.killsBeforeFirst += wasKilled && acknowledged == 0 ? 1 : 0
        figures.acknowledged += acknowledged
        let expected = durable + acknowledged
        try #require(wasKilled || acknowledged == Self.batchesPerRound, "\(note)")

        let (status, text) = try command("client-state", "--bundle", Self.bundle)
        let state = status == 2 ? 0 : try #require(Int(text.dropLast()), "\(note): \(text)")
        // One more batch may be durable than the killed process printed.
        #expect(state == expected || wasKilled && state == expected + 1, "\(note): \(expected) acknowledged")
        figures.durableUnacknowledged += state > expected ? 1 : 0
        durable = state
        figures.checkedItems += try check(note)
    }

    /// Checks that each durable batch is stored exactly once, and no later batch.
    private func check(_ note: String) throws -> Int {
        guard FileManager.default.fileExists(atPath: command.harness.store + "/index.sqlite") else {
            #expect(durable == 0, "\(note)")
            return 0
        }
        let (status, output) = try command(
            "query", "pageCount > 0", "--attributes", "pageCount", "--limit", "10000", "--json")
        guard status != 2 else {
            #expect(durable == 0, "\(note): \(output)")
            return 0
        }
        let report = try #require(
            try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any], "\(note): \(output)")
        let items = try #require(report["items"] as? [[String: Any]])
        try #require(report["hasMore"] as? Bool == false)
        var found: [String: Int] = [:]
        for item in items {
            let identifier = try #require(item["uniqueIdentifier"] as? String)
            let batch = try #require((item["attributes"] as? [String: Any])?["pageCount"] as? Int)
            #expect(found.updateValue(batch, forKey: identifier) == nil, "\(note): \(identifier) is there twice")
        }
        var expected: [String: Int] = durable > 0 ? ["latest": durable] : [:]
        for batch in 0..<durable {
            for item in 0..<Self.items(in: batch + 1) { expected["b\(batch + 1)-\(item)"] = batch + 1 }
        }
        let missing = expected.filter { found[$0.key] != $0.value }.keys.sorted().prefix(5)
        let extra = found.filter { expected[$0.key] == nil }.keys.sorted().prefix(5)
        #expect(missing.isEmpty && extra.isEmpty, "\(note), state \(durable): missing \(missing), extra \(extra)")
        return items.count
    }

    /// Runs a donation from a pipe until it has acknowledged this many batches, and kills it some
    /// microseconds later.
    ///
    /// - Returns: The number of acknowledged batches, and `true` if the process was killed before
    ///   it had finished.
    private func donate(
        _ input: String, killAfter count: Int, microseconds: Int
    ) throws -> (acknowledged: Int, wasKilled: Bool) {
        let (feed, output) = (Pipe(), Pipe())
        // In this order, because each process closes its own end of the pipe.
        let process = try ChildProcess(
            TortureSettings.program ?? BuiltProducts.program("searchlight"),
            ["donate", "--bundle", Self.bundle, "--acknowledge", "-"], environment: command.environment,
            input: .pipe(feed), output: .pipe(output), errors: .nothing)
        let feeder = try ChildProcess("/bin/cat", [input], output: .pipe(feed), errors: .nothing)
        var printed: [UInt8] = []
        while printed.count(where: { $0 == 0x0A }) < count {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            printed += data
        }
        // The time of the kill. Nothing synchronizes with it.
        usleep(UInt32(microseconds))
        process.send(SIGKILL)
        printed += output.fileHandleForReading.readDataToEndOfFile()
        let wasKilled = process.wait() == .killed(SIGKILL)
        feeder.wait()
        // The last line may be incomplete, and is then ignored.
        let complete = String(decoding: printed, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .dropLast()
        let acknowledged = complete.filter { $0.hasPrefix("acknowledged ") }.count
        return (acknowledged, wasKilled)
    }
}
