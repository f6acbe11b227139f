// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ExtensionHost
import ExtensionValidation
import Foundation
import TestSupport
import Testing

/// Recordings of the fixtures, replayed for the extension and for the host.
/// `SEARCHLIGHT_RECORDING_ROUNDS` is the number of recordings of each fixture.
@Suite("A recording", .timeLimit(.minutes(600)))
struct RecordingTests {
    /// The fixtures in C whose behaviour does not depend on files or on time. The fixture “misuses”
    /// is not among them: two of its threads race for one item on purpose.
    static let fixtures = [
        "acknowledges-twice", "bad-donations", "batches", "changes", "crash-in-request", "create-fails", "documents",
        "drops", "empty", "exit-at-load", "hostile-previews", "hostile-words", "listing", "missing-entry",
        "notebook", "omissions", "paging", "prints", "renames", "wrong-abi", "wrong-answer", "wrong-identifier",
        "crash-at-load",
    ]
    private static let rounds =
        ProcessInfo.processInfo.environment["SEARCHLIGHT_RECORDING_ROUNDS"].flatMap { Int($0) } ?? 1

    private func recorder(_ harness: Harness, _ bundle: String) throws -> ExtensionRecorder {
        ExtensionRecorder(
            try ExtensionBundle(at: bundle), configuration: try harness.validatorConfiguration(), onLine: { _ in })
    }

    @Test("replays with the same calls, for the extension and for the host", arguments: fixtures)
    func replays(_ name: String) async throws {
        for round in 0..<Self.rounds {
            let harness = try Harness()
            let identifier = "com.example.\(name)"
            let bundle = try harness.install(identifier, library: try CFixture.library(name))
            let recorder = try recorder(harness, bundle)
            let recording = try await recorder.record(items: 3)
            #expect(recording.callCount > 0 && !recording.sessions.isEmpty)
            #expect(try CallRecording(decoding: recording.encoded) == recording)

            let forExtension = RecordingComparison(recording, try await recorder.replayHost(recording))
            #expect(forExtension.differences.isEmpty, "round \(round), host played: \(forExtension.differences)")
            #expect(forExtension.calls > 0)
            let other = try ReplayBundle(recording, library: nil)
            let forHost = RecordingComparison(
                recording, try await self.recorder(harness, other.bundle.path).replayExtension(recording))
            #expect(forHost.differences.isEmpty, "round \(round), extension played: \(forHost.differences)")
            #expect(forHost.calls > 0)
            // Placeholders have another order than the identifiers, in which the host lists them.
            guard name != "listing" else { continue }
            let scrubbed = RecordingScrubber.scrubbed(recording)
            let forScrubbed = RecordingComparison(
                scrubbed, try await self.recorder(harness, other.bundle.path).replayExtension(scrubbed))
            #expect(forScrubbed.differences.isEmpty, "round \(round), scrubbed: \(forScrubbed.differences)")
        }
    }

    @Test("replayed with a changed library names the first call that differs")
    func changedLibrary() async throws {
        let harness = try Harness()
        let bundle = try harness.install("com.example.one", library: try CFixture.library("notebook"))
        let recording = try await recorder(harness, bundle).record(items: 1)
        let changed = try harness.install("com.example.two", library: try CFixture.library("acknowledges-twice"))
        let replay = try ReplayBundle(recording, library: changed + "/library.so")
        let replayed = try await recorder(harness, replay.bundle.path).replayHost(recording)
        let difference = try #require(RecordingComparison(recording, replayed).differences.first)
        #expect(difference.session == 1, "\(difference)")
        #expect(
            difference.call == "create, call 3 (get_interface)" || difference.call.hasPrefix("create"), "\(difference)")
    }

    @Test("that is truncated anywhere replays up to there", arguments: [3, 10, 24, 40])
    func truncated(_ count: Int) async throws {
        let harness = try Harness()
        let bundle = try harness.install("com.example.notebook", library: try CFixture.library("notebook"))
        let recorder = try recorder(harness, bundle)
        var recording = try await recorder.record(items: 1)
        try #require(recording.sessions.count == 1 && recording.sessions[0].events.count > count)
        // Enough for the load, so that the replay does not wait for a time limit.
        let load = try #require(
            recording.sessions[0].events.firstIndex { if case .hostReturn(1, _) = $0 { true } else { false } })
        recording.sessions[0].events.removeSubrange(min(load + count, recording.sessions[0].events.count - 1)...)
        recording.sessions[0].events.append(.truncated)
        let forExtension = RecordingComparison(recording, try await recorder.replayHost(recording))
        #expect(forExtension.differences.isEmpty && forExtension.calls > 0, "\(forExtension.differences)")
        let other = try ReplayBundle(recording, library: nil)
        let forHost = RecordingComparison(
            recording, try await self.recorder(harness, other.bundle.path).replayExtension(recording))
        #expect(forHost.differences.isEmpty && forHost.calls > 0, "\(forHost.differences)")
    }

    @Test("cannot make a replay write outside its folder")
    func paths() throws {
        let harness = try Harness()
        let name = "escaped-\(getpid())"
        let recording = CallRecording(
            bundle: "../../../../../../../../../../..\(harness.folder)/\(name)", principalClass: nil, sessions: [])
        #expect(throws: (any Error).self) { try ReplayBundle(recording, library: nil) }
        #expect(!FileManager.default.fileExists(atPath: harness.folder + "/\(name).searchext"))
    }

    @Test("replayed without a worker fails with the reason, and not as a difference")
    func noWorker() async throws {
        let harness = try Harness()
        let bundle = try harness.install("com.example.notebook", library: try CFixture.library("notebook"))
        let recording = try await recorder(harness, bundle).record(items: 1)
        var configuration = try harness.validatorConfiguration()
        configuration.workerPath = harness.folder + "/none"
        let without = ExtensionRecorder(try ExtensionBundle(at: bundle), configuration: configuration)
        await #expect(throws: ExtensionError.self) { try await without.replayHost(recording) }
        await #expect(throws: ExtensionError.self) { try await without.replayExtension(recording) }
    }

    @Test("is made, scrubbed and replayed by the commands, with their exit statuses")
    func commands() async throws {
        let harness = try Harness()
        let command = Command(harness: harness)
        let bundle = try harness.install("com.example.notebook", library: try CFixture.library("notebook"))
        let file = harness.folder + "/notebook.slrec"
        let made = try command("extensions", "record", bundle, "--output", file, "--items", "2")
        #expect(made.status == 0 && made.output.hasPrefix("Recorded "), "\(made.output)")
        let same = try command("extensions", "replay", file)
        #expect(same.status == 0 && same.output.hasPrefix("same"), "\(same.output)")
        let library = try command("extensions", "replay", file, "--library", bundle + "/library.so")
        #expect(library.status == 0, "\(library.output)")

        let scrubbed = harness.folder + "/scrubbed.slrec"
        #expect(try command("extensions", "record", bundle, "--output", scrubbed, "--scrub").status == 0)
        let text = String(decoding: try Data(contentsOf: URL(filePath: scrubbed)), as: UTF8.self)
        for word in ["alpha", "beta", "gamma", "stationery", "paper", "spiral", "three sheets"] {
            #expect(!text.contains(word), "\(word) is left")
        }
        #expect(try command("extensions", "replay", scrubbed).status == 0)

        let other = try harness.install("com.example.other", library: try CFixture.library("paging"))
        let differs = try command("extensions", "replay", file, "--library", other + "/library.so")
        #expect(differs.status == 11 && differs.output.hasPrefix("differs"), "\(differs.output)")
        #expect(try command("extensions", "replay", harness.folder + "/none").status == 2)
        #expect(try command("extensions", "record", harness.folder + "/none.searchext", "--output", file).status == 2)
        try Data("nothing".utf8).write(to: URL(filePath: file))
        let damaged = try command("extensions", "replay", file)
        #expect(damaged.status == 1 && damaged.output.contains("does not begin as a recording"), "\(damaged.output)")
    }
}
