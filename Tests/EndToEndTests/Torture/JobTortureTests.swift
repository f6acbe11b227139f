// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Kills the process that holds the jobs while jobs of every kind are requested, executed and
/// completed. `Scripts/torture` runs more rounds.
@Suite("Torture, jobs", .serialized)
struct JobTortureTests {
    private static let rounds = TortureSettings.rounds ?? 12
    private static let bundles = ["org.example.plain", "org.example.paged", "org.example.upgraded"]
    /// After this many kills, one process runs to its end, so that all pending work is completed.
    private static let roundsPerDrain = 20

    @Test(
        "With kills at any time, every request is acknowledged in the end, and cancelled ones are not repeated",
        .timeLimit(.minutes(60)))
    func jobs() throws {
        let seed = TortureSettings.seed
        var random = SplitMix64(seed: seed ^ 0x10B5)
        let harness = try Harness()
        let source = BuiltProducts.repository + "/Tests/Fixtures/Extensions/jobs.c"
        let options = ["-std=c11", "-D_GNU_SOURCE", "-I\(CFixture.includeFolder)"]
        let plain = try CFixture.library(source: source, options: options)
        let paged = try CFixture.library(source: source, options: options + ["-DJOBS_IN_PAGES"])
        for bundle in Self.bundles {
            try note("want \(bundle) all", harness)
            try harness.install(bundle, library: bundle.hasSuffix("paged") ? paged : plain)
        }
        var kills = 0
        for round in 0..<Self.rounds {
            if random.below(4) == 0 { try upgrade("org.example.upgraded", to: round + 2, harness) }
            // From shortly after the start to beyond the end.
            let lines = random.below(90)
            let isKilled = try run(
                harness, seed: random.next(), day: Double(round), killAfter: lines, microseconds: random.below(4000))
            kills += isKilled ? 1 : 0
            if round % Self.roundsPerDrain == Self.roundsPerDrain - 1 || round == Self.rounds - 1 {
                let isKilled = try run(harness, seed: random.next(), day: Double(round), killAfter: nil)
                #expect(!isKilled, "round \(round), again with: \(TortureSettings.repetition)")
            }
        }
        let log = try String(contentsOfFile: harness.marks + "/jobs.log", encoding: .utf8)
        let history = JobHistory(log.split(separator: "\n").map(String.init))
        print(
            """
            Torture, jobs: \(Self.rounds) rounds, \(kills) kills, seed \(seed): \(history.requests) requests, \
            \(history.acknowledgements) acknowledgements, \(history.strikes) struck out, \(history.repeated) asked \
            once more since they had not been; \(history.faults.count) faults
            """)
        #expect(history.faults.isEmpty, "\(history.faults.prefix(10)), again with: \(TortureSettings.repetition)")
        #expect(history.requests > Self.rounds && history.strikes > 0 && kills > 0)
        // A process that cannot read the job list requests everything again, which would hide a
        // loss.
        let damaged = try FileManager.default.contentsOfDirectory(atPath: harness.store).filter {
            $0.hasSuffix(".damaged")
        }
        #expect(damaged.isEmpty, "\(damaged), again with: \(TortureSettings.repetition)")
        let (status, output) = try Command(harness: harness)("verify")
        #expect(status == 0, "\(output)")
    }

    private func note(_ text: String, _ harness: Harness) throws {
        let path = harness.marks + "/jobs.log"
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: Data((text + "\n").utf8))
        try file.close()
    }

    /// Installs a different version of the same extension.
    private func upgrade(_ bundle: String, to version: Int, _ harness: Harness) throws {
        try note("want \(bundle) all", harness)
        let path = harness.extensions + "/\(bundle).searchext/Info.plist"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let changed = text.replacing(#/(CFBundleVersion</key>\s*<string>)\d+/#) { "\($0.1)\(version)" }
        try #require(changed != text)
        try Data(changed.utf8).write(to: URL(filePath: path), options: .atomic)
    }

    /// Runs a trial until it has written this many lines, and kills it some microseconds later.
    ///
    /// - Returns: `true` if the process was killed before it had finished.
    private func run(
        _ harness: Harness, seed: UInt64, day: Double, killAfter count: Int?, microseconds: Int = 0
    ) throws -> Bool {
        var environment = ProcessInfo.processInfo.environment
        environment["HOME"] = harness.folder
        let (output, errors) = (Pipe(), Pipe())
        let process = try ChildProcess(
            BuiltProducts.program("TortureDonor"),
            [
                "jobs", harness.folder, harness.extensions, BuiltProducts.program("searchlight-worker"), "\(seed)",
                "\(800_000_000 + day * 86400)",
            ], environment: environment, output: .pipe(output), errors: .pipe(errors))
        var printed = 0
        while printed < count ?? .max {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            printed += data.count { $0 == 0x0A }
        }
        if count != nil {
            // The time of the kill. Nothing synchronizes with it.
            usleep(UInt32(microseconds))
            process.send(SIGKILL)
        }
        _ = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let ending = process.wait()
        #expect(ending == .exited(0) || count != nil && ending == .killed(SIGKILL), "\(ending): \(complaint)")
        return ending == .killed(SIGKILL)
    }
}
