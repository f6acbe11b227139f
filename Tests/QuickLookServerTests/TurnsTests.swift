// SPDX-License-Identifier: Apache-2.0
import QuickLookServer
import Testing

/// For each page, only the newest request is completed; older requests are cancelled.
@Suite("Turns", .timeLimit(.minutes(10)))
struct TurnsTests {
    private let line = Turns.Line(page: "one", kind: "preview")

    /// Starts a request that ends only by cancellation. Returns when it has started.
    private func begin(_ number: Int, _ turns: Turns, _ line: Turns.Line) async -> Task<Int, any Error> {
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await turns.take(number, in: line) { () async throws -> Int in
                beginning.yield()
                while true { try await Task.sleep(for: .seconds(3600)) }
            }
        }
        for await _ in begun { break }
        return task
    }

    @Test("A newer request cancels the older one")
    func newer() async throws {
        let turns = Turns()
        let first = await begin(1, turns, line)
        #expect(try await turns.take(2, in: line) { 2 } == 2)
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    @Test("A late request is not started")
    func late() async throws {
        let turns = Turns()
        #expect(try await turns.take(5, in: line) { 5 } == 5)
        for number in [5, 4] {
            await #expect(throws: Turns.Stale.self) { try await turns.take(number, in: line) { 0 } }
        }
    }

    @Test("Another page and another kind are not affected")
    func others() async throws {
        let turns = Turns()
        let first = await begin(1, turns, line)
        #expect(try await turns.take(2, in: Turns.Line(page: "two", kind: "preview")) { 1 } == 1)
        #expect(try await turns.take(2, in: Turns.Line(page: "one", kind: "search")) { 1 } == 1)
        #expect(!first.isCancelled)
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
    }

    @Test("The page without requests for longest is dropped")
    func many() async throws {
        let turns = Turns()
        let first = await begin(1, turns, line)
        for page in 0..<64 { _ = try await turns.take(1, in: Turns.Line(page: "\(page)", kind: "preview")) { 0 } }
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await turns.take(1, in: line) { 7 } == 7)
    }
}
