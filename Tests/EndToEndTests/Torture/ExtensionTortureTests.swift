// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport
import TestSupport
import Testing

/// Good and broken extensions with random requests, cancellations and kills, in a separate process
/// whose descriptors and children can be counted. `Scripts/torture` runs more rounds.
@Suite("Torture, extensions", .serialized)
struct ExtensionTortureTests {
    private static let rounds = TortureSettings.rounds ?? 30
    private static let goodOnes = 3
    /// The number of concurrent broken extensions; all of them if there are enough rounds to reach
    /// them.
    private static let brokenOnes = TortureSettings.rounds == nil ? 40 : Int.max

    /// Extensions that need too much memory on a machine with other work.
    private static let unsuitable: Set = [
        "donations: many_in_one_call", "donations: many_calls", "promises: a_gibibyte", "previews: a_gibibyte",
        "promises: more_than_there_is",
    ]

    private func install(in harness: Harness, hanging: Bool) throws {
        var random = SplitMix64(seed: TortureSettings.seed)
        for number in 0..<Self.goodOnes {
            try harness.install("org.example.good-\(number)", library: try CFixture.library("ledger"))
        }
        let suitable = BrokenExtension.tried.filter { broken in
            !Self.unsuitable.contains(broken.name) && (hanging || !broken.hangs)
        }
        for (number, broken) in suitable.shuffled(using: &random).prefix(Self.brokenOnes).enumerated() {
            try broken.install(in: harness, as: "org.example.broken-\(number)")
        }
        try FileManager.default.createDirectory(atPath: harness.folder + "/tmp", withIntermediateDirectories: true)
    }

    /// Runs the torture until it has finished.
    private func run(_ host: String, in harness: Harness) throws {
        print("Extensions: \(Self.rounds) rounds, \(host), seed \(TortureSettings.seed)")
        let (status, output) = try CFixture.run(
            try BuiltProducts.program("ExtensionTorture"),
            [host, harness.folder, BuiltProducts.folder, "\(Self.rounds)", "\(TortureSettings.seed)"])
        print(output)
        #expect(status == 0, "again with: \(TortureSettings.repetition)\n\(output)")
        #expect(output.contains("all held"))
    }

    @Test("No item of the healthy extensions is lost, and nothing is left behind", .timeLimit(.minutes(60)))
    func engine() throws {
        let harness = try Harness()
        try install(in: harness, hanging: true)
        try run("engine", in: harness)
    }

    @Test("The same through a service", .timeLimit(.minutes(60)))
    func service() async throws {
        let harness = try Harness()
        try install(in: harness, hanging: false)
        var environment = try Command(harness: harness).environment
        environment["TMPDIR"] = harness.folder + "/tmp"
        let log = harness.folder + "/log"
        try #require(FileManager.default.createFile(atPath: log, contents: nil))
        let service = try ChildProcess(
            BuiltProducts.program("searchlightd"),
            ["--store", harness.store, "--extensions", harness.extensions, "--no-session-bus"],
            environment: environment, output: .inherited, errors: .file(FileHandle(forWritingTo: URL(filePath: log))))
        defer {
            service.send(SIGTERM)
            service.wait()
        }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        while (try? ServiceSocket.connect(inFolder: harness.store)) == nil {
            try #require(service.isRunning && clock.now < deadline, "the service does not listen")
            try await clock.sleep(for: .milliseconds(10))
        }
        let before = service.identifier
        try run("\(before)", in: harness)
        let text = try String(contentsOfFile: log, encoding: .utf8)
        #expect(service.isRunning, "the service ended: \(text.suffix(2000))")
    }
}
