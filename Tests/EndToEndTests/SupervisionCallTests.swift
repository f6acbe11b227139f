// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import TestSupport
import Testing

@testable import SearchlightEngine

/// Requests that an extension does not answer, or that were abandoned.
@Suite("A request that does not end", .timeLimit(.minutes(10)))
struct SupervisionCallTests {
    enum Asked: String, CaseIterable, CustomTestStringConvertible {
        case everything, items, data, file, preview

        var testDescription: String { rawValue }
    }

    private let harness: Harness
    private let bundle: String
    private let clock = ManualClock()

    init() throws {
        harness = try Harness()
        bundle = try harness.installFixture("by-name")
    }

    /// Sends a request to which the fixture reacts as the name describes.
    private func ask(_ asked: Asked, _ name: String, _ engine: SearchlightEngine) async throws {
        switch asked {
        case .everything:
            try Data(name.utf8).write(to: URL(filePath: harness.extensions + "/\(bundle).searchext/mode"))
            _ = try await engine.reindexAll(bundle)
        case .items: try await engine.reindexItems([name, "good"], of: bundle)
        case .data: _ = try await engine.data(of: name, as: "public.utf8-plain-text", bundle: bundle)
        case .file: _ = try await engine.host.file(item: name, type: "public.rtf", inPlace: false, bundle)
        case .preview: _ = try await engine.host.preview(item: name, query: nil, contentPath: nil, bundle)
        }
    }

    private func expectTimeOut(_ error: (any Error)?) {
        switch error {
        case EngineError.extension(.timedOut(bundle, _, .seconds(60)))?: break
        case ExtensionError.timedOut(bundle, _, .seconds(60))?: break
        default: Issue.record("\(String(describing: error))")
        }
    }

    @Test("because the extension hangs ends with its worker, and the next one is answered", arguments: Asked.allCases)
    func hangs(asked: Asked) async throws {
        harness.endHangs(by: clock)
        try await harness.withEngine(clock: clock) { engine async throws in
            if asked == .items {
                try await ask(asked, "hang", engine)
                #expect(engine.itemsSetAside(of: bundle).map(\.identifier) == ["hang"])
            } else {
                let error = await #expect(throws: (any Error).self) { try await ask(asked, "hang", engine) }
                expectTimeOut(error)
                // A late worker got no processor time, which may happen on a busy machine.
                let kinds = engine.health(of: bundle).failures.map(\.kind)
                #expect(kinds == [.hung] || kinds == [.late])
            }
            try await ask(.data, "good", engine)
            #expect(harness.retries == (asked == .items ? 1 : 0))
        }
    }

    @Test("although its worker was asked to end is ended by the kernel")
    func stubborn() async throws {
        harness.endHangs(by: clock, isStubborn: true)
        try await harness.withEngine(clock: clock) { engine async throws in
            expectTimeOut(await #expect(throws: (any Error).self) { try await ask(.data, "stubborn", engine) })
            #expect(engine.health(of: bundle).failures.map(\.kind) == [.hung])
            #expect(await engine.host.workerCount == 0)
        }
    }

    @Test("and is cancelled without effect ends with its worker and does not count as a failure")
    func cancelIgnored() async throws {
        try await harness.withEngine(clock: clock) { engine async throws in
            let asking = Task { try await ask(.data, "hang", engine) }
            await harness.wait(forMessage: "hanging")
            await clock.waitForSleepers()
            asking.cancel()
            // The time limit of the request plus the grace period.
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(2))
            let error = await #expect(throws: (any Error).self) { try await asking.value }
            #expect(error as? EngineError == .extension(.cancelled))
            #expect(engine.health(of: bundle).isBlank)
            try await ask(.data, "good", engine)
            #expect(harness.startedWorkers == 2)
        }
    }

    @Test("ends other requests of the worker, which are repeated and count as no failure")
    func bystander() async throws {
        try await harness.withEngine(clock: clock) { engine async throws in
            let bystander = Task { try await ask(.data, "hang too", engine) }
            await harness.wait(forMessage: "hanging")
            let asking = Task { try await ask(.data, "hang", engine) }
            await harness.wait(forMessage: "hanging", count: 2)
            await clock.waitForSleepers(2)
            asking.cancel()
            await clock.waitForSleepers(3)
            clock.advance(by: .seconds(2))
            await #expect(throws: (any Error).self) { try await asking.value }
            await harness.wait(forMessage: "hanging", count: 3)
            #expect(engine.health(of: bundle).isBlank && harness.retries == 1)
            await clock.waitForSleepers()
            bystander.cancel()
            await clock.waitForSleepers(2)
            clock.advance(by: .seconds(2))
            await #expect(throws: (any Error).self) { try await bystander.value }
        }
    }

    @Test("that is cancelled before its start starts nothing")
    func cancelledBefore() async throws {
        try await harness.withEngine(clock: clock) { engine async throws in
            try await ask(.data, "good", engine)
            let asking = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await ask(.data, "hang", engine)
            }
            let error = await #expect(throws: (any Error).self) { try await asking.value }
            #expect(error as? EngineError == .extension(.cancelled))
            #expect(harness.messages.isEmpty)
        }
    }
}
