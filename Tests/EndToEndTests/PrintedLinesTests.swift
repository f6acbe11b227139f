// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine
import Testing

@Suite("Printed lines of an extension")
struct PrintedLinesTests {
    private static let type = "public.utf8-plain-text"

    /// Returns the printed lines that were reported as events. Log messages are reported
    /// separately.
    private func printed(_ harness: Harness) -> [String] {
        harness.recordedEvents.compactMap { if case .output(_, let line) = $0 { line } else { nil } }
    }

    @Test("before it answers are reported before the answer, in a thousand rounds")
    func comesFirst() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("prints")
        try await harness.withEngine { engine async throws in
            for round in 0..<1000 {
                _ = try await engine.data(of: "lines \(round)", as: Self.type, bundle: bundle)
                let lines = printed(harness)
                guard lines.count == 3 * (round + 1) else {
                    Issue.record("round \(round): \(lines.suffix(5)), \(lines.count) lines")
                    return
                }
                #expect(lines.suffix(3) == ["error \(round)", "output \(round)", "rest \(round)"])
            }
        }
    }

    @Test("before it fails are reported before the error")
    func comesBeforeErrors() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("prints")
        try await harness.withEngine { engine async throws in
            for round in 0..<100 {
                await #expect(throws: EngineError.self) {
                    _ = try await engine.data(of: "fail \(round)", as: Self.type, bundle: bundle)
                }
                #expect(printed(harness).last == "why \(round)")
            }
        }
    }

    @Test("beyond the size of a pipe are reported in order, including a last line without an end")
    func many() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("prints")
        try await harness.withEngine { engine async throws in
            for round in 0..<20 {
                _ = try await engine.data(of: "many \(round)", as: Self.type, bundle: bundle)
                let lines = printed(harness).suffix(401)
                #expect(lines.first?.hasPrefix("line 0 of \(round),") == true)
                #expect(lines.last == "last \(round)")
            }
        }
    }

    @Test("that are too long are truncated, with a mark")
    func long() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("prints")
        try await harness.withEngine { engine async throws in
            _ = try await engine.data(of: "long", as: Self.type, bundle: bundle)
        }
        #expect(printed(harness) == [String(repeating: "x", count: 4096) + "…"])
    }

    @Test("before it crashes are reported, and quoted by the error")
    func crash() async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("prints")
        try await harness.withEngine { engine async throws in
            let error = await #expect(throws: EngineError.self) {
                _ = try await engine.data(of: "crash", as: Self.type, bundle: bundle)
            }
            guard case .extension(.crashed(_, _, _, let lines))? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(lines == ["before the end", "without an end"])
        }
    }
}
