// SPDX-License-Identifier: Apache-2.0
@testable import SearchlightService

/// A repair that lasts until the test ends it.
struct HeldRepair {
    private let task: Task<EngineUnavailable?, Never>
    private let release: AsyncStream<Void>.Continuation

    /// Starts a repair. Returns when the engine is closed.
    init(_ holder: EngineHolder, _ body: @escaping @Sendable () async -> Void = {}) async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (ending, release) = AsyncStream.makeStream(of: Void.self)
        self.release = release
        task = Task {
            defer { begin.finish() }
            do throws(EngineUnavailable) {
                try await holder.exclusively {
                    await body()
                    begin.yield()
                    for await _ in ending {}
                }
                return nil
            } catch {
                return error
            }
        }
        for await _ in begun { return }
        if let reason = await task.value { throw reason }
    }

    /// Ends the repair, and waits until it has finished.
    func end() async {
        release.finish()
        _ = await task.value
    }
}
