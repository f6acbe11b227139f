// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import ServiceMessages
import Testing

@Suite("An extension that breaks the rules of the header", .timeLimit(.minutes(10)))
struct MisuseTests {
    @Test("has each violation reported, does no harm, and is still served")
    func allRules() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("misuses")
        try await harness.withEngine { engine async throws in
            #expect(try await engine.reindexAll(bundle) == 1)
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.data(of: "one", as: "public.html", bundle: bundle)
            }
            #expect(error?.description.contains("another kind of answer") == true)
            // Another request, so that all earlier messages have arrived.
            try await engine.reindexItems(["one"], of: bundle)
        }
        let rules = harness.recordedEvents.compactMap { event -> HostRequest.Misuse? in
            if case .misuse(_, let rule, _) = event { rule } else { nil }
        }
        #expect(Set(rules) == Set(HostRequest.Misuse.allCases), "\(rules)")
        #expect(harness.retries == 0)
    }
}
