// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import IdleScheduling
import SearchlightEngine
import Testing

/// Faults of extensions while the store is only read, as by `searchlight drag` without a service.
@Suite("A failure while the store is only read", .timeLimit(.minutes(10)))
struct ReaderFailureTests {
    private let command: Command
    private let bundle: String
    private var harness: Harness { command.harness }

    init() throws {
        command = Command(harness: try Harness())
        bundle = try command.harness.installFixture("by-name")
    }

    @Test("is stored: three crashes in commands that change nothing else cause a quarantine")
    func crashes() async throws {
        let item = """
            {"uniqueIdentifier": "crash", "attributes": {"title": "Crash", \
            "providerDataTypeIdentifiers": ["public.utf8-plain-text"]}}
            """
        #expect(try await command.outcome(["donate", "--bundle", bundle, "-"], input: item).status == 0)
        let drop = harness.folder + "/drop"
        let arguments = ["drag", "crash", "--accept", "public.text", "--output", drop]
        #expect(try await command.outcome(arguments).status == 7)
        let details = try await command.outcome(["extensions", "info", bundle]).output
        #expect(details.contains("last words about crash"), "\(details)")
        let preview = try await command.outcome(["preview", "crash"])
        #expect(preview.output.contains("Crash"), "\(preview)")
        let refused = try await command.outcome(arguments)
        #expect(refused.status == 4 && refused.errors.contains("quarantine"), "\(refused)")
        #expect(try await command.outcome(["extensions", "release", bundle]).status == 0)
        #expect(try await command.outcome(arguments).status == 7)
    }

    private func crash(_ engine: SearchlightEngine) async {
        await #expect(throws: EngineError.self) {
            _ = try await engine.data(of: "crash", as: "public.utf8-plain-text", bundle: bundle)
        }
    }

    @Test("makes skip-listed items of a changed bundle pending, unless another process changes the store")
    func itemsSetAside() async throws {
        try await harness.withEngine { engine async throws in
            try await engine.reindexItems(["crash", "good"], of: bundle)
            #expect(engine.itemsSetAside(of: bundle).map(\.identifier) == ["crash"])
        }
        let path = URL(filePath: harness.extensions + "/\(bundle).searchext/Info.plist")
        let writer = try Harness(sharing: harness).engine()
        try Data(contentsOf: path).write(to: path, options: .atomic)
        try await harness.withEngine(.readOnly) { reader async throws in await crash(reader) }
        // No work is lost, and none becomes pending without the process that changes the store.
        #expect(writer.owedWork(for: bundle)?.work != .reindexItems(["crash"]))
        await writer.close()
        try await harness.withEngine(.readOnly) { reader async throws in
            await crash(reader)
            #expect(reader.itemsSetAside(of: bundle).isEmpty)
        }
        try await harness.withEngine { engine async throws in
            #expect(engine.owedWork(for: bundle)?.work == .reindexItems(["crash"]))
            #expect(engine.health(of: bundle).failures.isEmpty == false)
        }
    }
}
