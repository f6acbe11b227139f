// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// Processes that are killed while they compute embeddings.
@Suite("Killed embedding work", .timeLimit(.minutes(10)))
struct KilledEmbeddingTests {
    private static let items = 4000
    private static let rounds = 5

    @Test("A killed process keeps every embedding that it has stored, and the next one completes the work")
    func killed() throws {
        let command = Command(harness: try Harness())
        let folder = try TemporaryFolder()
        try TinyModel.ofWords(TinyModel.manyWords, synonyms: []).writeFiles(to: folder)
        var random = SplitMix64(seed: 11)
        let lines = (0..<Self.items).map { number in
            let text = (0..<30).map { _ in random.pick(TinyModel.manyWords) }.joined(separator: " ")
            return #"{"uniqueIdentifier": "s\#(number)", "attributes": {"textContent": "\#(text)"}}"#
        }
        try folder.write(Array(lines.joined(separator: "\n").utf8), to: "items")
        let donated = try command("donate", "--bundle", "org.example.sheets", folder.path("items"))
        try #require(donated.status == 0, "\(donated)")
        let installed = try command("semantic", "install", folder.path)
        try #require(installed.status == 0, "\(installed)")
        var (stored, interrupted) = (0, 0)
        for _ in 0..<Self.rounds {
            let errors = Pipe()
            let process = try ChildProcess(
                BuiltProducts.program("searchlight"), ["semantic", "build"], environment: command.environment,
                output: .nothing, errors: .pipe(errors))
            // Each line reports a number of embeddings that are already stored.
            let data = errors.fileHandleForReading.availableData
            let told = String(decoding: data, as: UTF8.self).split(separator: "\n").last?.split(separator: " ").first
            // The time of the kill. Nothing synchronizes with it.
            usleep(UInt32(random.below(300_000)))
            process.send(SIGKILL)
            _ = errors.fileHandleForReading.readDataToEndOfFile()
            process.wait()
            let (embedded, pending) = try counts(command)
            #expect(embedded >= max(stored, told.flatMap { Int($0) } ?? 0) && embedded + pending == Self.items)
            stored = embedded
            if pending > 0 { interrupted += 1 }
        }
        #expect(interrupted > 0, "no work was interrupted")
        let built = try command("semantic", "build")
        #expect(built.status == 0, "\(built)")
        #expect(try counts(command) == (Self.items, 0))
        let verified = try command("verify")
        #expect(verified.status == 0, "\(verified)")
    }

    private func counts(_ command: Command) throws -> (embedded: Int, pending: Int) {
        let status = try #require(try command.json("semantic", "status") as? [String: Any])
        return (try #require(status["embedded"] as? Int), try #require(status["pending"] as? Int))
    }
}
