// SPDX-License-Identifier: Apache-2.0
import BoundaryRecording
import ExtensionHost
import ExtensionValidation
import Foundation
import MetadataQuery
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

    /// Replays a recording for the extension and for the host, and expects the same calls.
    private func expectSameReplays(
        _ recording: CallRecording, _ recorder: ExtensionRecorder, _ harness: Harness, _ comment: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let other = try ReplayBundle(recording, library: nil)
        let player = try self.recorder(harness, other.bundle.path)
        for replayed in [try await recorder.replayHost(recording), try await player.replayExtension(recording)] {
            let comparison = RecordingComparison(recording, replayed)
            #expect(
                comparison.differences.isEmpty && comparison.calls > 0, "\(comment): \(comparison.differences)",
                sourceLocation: sourceLocation)
        }
        withExtendedLifetime(other) {}
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

            try await expectSameReplays(recording, recorder, harness, "round \(round)")
            // The host lists the placeholders in an order that differs from the order of the
            // identifiers.
            guard name != "listing" else { continue }
            let other = try ReplayBundle(recording, library: nil)
            let scrubbed = RecordingScrubber.scrubbed(recording) { AttributeNames.kind(of: $0) != nil }
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
        try await expectSameReplays(recording, recorder, harness)
    }

    @Test("of a crash on another thread is the same, however far the request had come")
    func interruptedRequest() async throws {
        let harness = try Harness()
        let bundle = try harness.install("com.example.crash", library: try CFixture.library("crash-in-request"))
        let recorder = try recorder(harness, bundle)
        var recording = try await recorder.record(items: 1)
        // As if the completion had crashed before the request's last call. The real order is
        // random.
        var shortened = 0
        for (place, session) in recording.sessions.enumerated() {
            var requests: Set<UInt32> = []
            for case .hostCall(let number, .reindexAll, _, _) in session.events { requests.insert(number) }
            var calls: Set<UInt32> = []
            let events = session.events.filter { event in
                switch event {
                case .extensionCall(let number, let within, let function, _):
                    guard requests.contains(within), function.name == "release" else { return true }
                    calls.insert(number)
                    return false
                case .extensionReturn(let number, _): return !calls.contains(number)
                case .hostReturn(let number, _): return !requests.contains(number)
                default: return true
                }
            }
            if events.contains(where: { if case .hostCall(_, .completion, _, _) = $0 { true } else { false } }) {
                recording.sessions[place].events = events
                shortened += 1
            }
        }
        #expect(shortened > 0)
        try await expectSameReplays(recording, recorder, harness)
    }

    @Test("of a cancellation has a handler that waits for a completion, and both are called")
    func cancelHandler() async throws {
        let harness = try Harness()
        let bundle = try harness.install("com.example.waits", library: try CFixture.library("waits-in-cancel"))
        let recorder = try recorder(harness, bundle)
        var recording = try await recorder.record(items: 0)
        var events = recording.sessions[0].events
        // A recorder cancels nothing, so the recording gets the cancellation before the completion.
        let request = try #require(
            events.lazy.compactMap { event -> BoundaryValue? in
                if case .hostCall(_, .reindexAll, _, let arguments) = event { arguments.first } else { nil }
            }.first)
        let handler = try #require(
            events.lazy.compactMap { event -> UInt32? in
                if case .extensionCall(let number, _, let function, _) = event, function.name == "set_handler" {
                    number
                } else {
                    nil
                }
            }.first)
        let completion = try #require(
            events.firstIndex { if case .hostCall(_, .completion, _, _) = $0 { true } else { false } })
        let number = UInt32(1000)
        events.append(.hostReturn(number: number, .null))
        events.insert(.hostCall(number: number, .cancel, cause: handler, [request]), at: completion)
        events.insert(.cancelled(request: UInt64(bitPattern: request.integer ?? 0)), at: completion)
        recording.sessions[0].events = events
        let replayed = try await recorder.replayHost(recording)
        let comparison = RecordingComparison(recording, replayed)
        #expect(comparison.differences.isEmpty, "\(comparison.differences)")
        let returns = try #require(replayed.sessions.first).events.count { event in
            if case .hostReturn = event { true } else { false }
        }
        // The load, the request, the notices, the completion and the handler.
        #expect(returns == events.count { if case .hostReturn = $0 { true } else { false } })
    }

    @Test("with calls of the host that never come makes its own calls after one wait")
    func missingHostCalls() async throws {
        let harness = try Harness()
        let bundle = try harness.install("com.example.notebook", library: try CFixture.library("notebook"))
        var recording = try await recorder(harness, bundle).record(items: 1)
        let isExtensionCall = { (event: BoundaryEvent) in
            if case .extensionCall = event { true } else { false }
        }
        let calls = recording.sessions[0].events.count(where: isExtensionCall)
        let first = try #require(
            recording.sessions[0].events.firstIndex {
                if case .hostCall(_, .reindexAll, _, _) = $0 { true } else { false }
            })
        // Each later call of the extension follows a completion that this host never calls.
        recording.sessions[0].events.insert(.hostCall(number: 1000, .completion, cause: 0, []), at: first + 1)
        let other = try ReplayBundle(recording, library: nil)
        let start = ContinuousClock.now
        let replayed = try await recorder(harness, other.bundle.path).replayExtension(recording)
        // If each call waited for ten seconds, this would take minutes.
        #expect(calls > 30 && ContinuousClock.now - start < .seconds(10 * calls / 2))
        #expect(replayed.sessions.first?.events.count(where: isExtensionCall) == calls)
        let differences = RecordingComparison(recording, replayed).differences
        #expect(differences.map(\.replayed) == ["no such call"], "\(differences)")
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

    @Test(
        "that does not fit on the disk is kept as far as it goes, with status 12, and can be replayed",
        .enabled(if: DiskFullMessageTests.mayMount))
    func fullDisk() throws {
        let harness = try Harness()
        let command = Command(harness: harness)
        let bundle = try harness.install("com.example.listing", library: try CFixture.library("listing"))
        let (status, output) = try command.shell(
            """
            mkdir disk; unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=64k none disk && \
            TMPDIR="$PWD/disk" "$SEARCHLIGHT" extensions record "$0" --output "$PWD/cut.slrec" 2>&1; \
            echo "status $?"' '\(bundle)'
            """)
        #expect(status == 0)
        #expect(output.contains("later calls are missing") && output.hasSuffix("status 12\n"), "\(output)")
        let bytes = [UInt8](try Data(contentsOf: URL(filePath: harness.folder + "/cut.slrec")))
        let recording = try CallRecording(decoding: bytes)
        #expect(!recording.isComplete && recording.callCount > 100)
        let replayed = try command(
            "extensions", "replay", harness.folder + "/cut.slrec", "--library", bundle + "/library.so")
        #expect(replayed.status == 0 && replayed.output.hasPrefix("same"), "\(replayed.output)")
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
