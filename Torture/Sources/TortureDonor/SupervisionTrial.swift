// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import Synchronization

/// Makes an extension (the fixture `by-name`) crash, hang, exit and be cancelled repeatedly, in its
/// own process, so that leaked descriptors, threads and processes can be counted.
struct SupervisionTrial {
    let folder: String
    let extensions: String
    let worker: String
    let bundle: String
    let rounds: Int

    private struct Failure: Error, CustomStringConvertible { let description: String }

    /// The process resources that can leak.
    private struct Load {
        var descriptors = 0
        var threads = 0
        var hasChildren = false

        init() throws {
            descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
            threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
            var information = siginfo_t()
            // Includes children that have exited but were not reaped.
            hasChildren = waitid(P_ALL, 0, &information, WEXITED | WNOHANG | WNOWAIT) == 0
        }
    }
    /// The allowance for pool threads. A leaked worker would add three threads per round.
    private static let poolThreads = 16

    func run() async throws {
        // Creates the resources that are created once and then kept.
        try await misbehave(3)
        let before = try Load()
        try await misbehave(rounds)
        let after = try Load()
        print("before: \(before)\nafter \(rounds) rounds: \(after)")
        guard after.descriptors <= before.descriptors else { throw Failure(description: "descriptors leak") }
        guard after.threads <= before.threads + Self.poolThreads else { throw Failure(description: "threads leak") }
        guard !after.hasChildren else { throw Failure(description: "processes are left") }
    }

    private func misbehave(_ rounds: Int) async throws {
        let (hangs, hanging) = AsyncStream.makeStream(of: Void.self)
        var hang = hangs.makeAsyncIterator()
        var limits = WorkerConfiguration.Limits()
        limits.load = .seconds(60)
        (limits.firstSign, limits.progress) = (.milliseconds(100), .milliseconds(100))
        (limits.cancelGrace, limits.endGrace) = (.milliseconds(20), .milliseconds(20))
        var configuration = EngineConfiguration(
            storeDirectory: folder + "/store", access: .readWrite, extensionSearchPath: [extensions],
            worker: WorkerConfiguration(
                workerPath: worker, frameworkFolder: nil, environment: ProcessInfo.processInfo.environment,
                limits: limits))
        configuration.onWork = { () }
        let engine = try SearchlightEngine(configuration) { event in
            if case .log(_, _, "hanging") = event { hanging.yield() }
        }
        for round in 0..<rounds {
            for name in ["good", "crash", "exit", "refuse", "hang", "stubborn"] { await ask(name, engine) }
            // Drops the messages of earlier hangs, so that the next message belongs to this
            // request.
            for _ in 0..<2 { _ = await hang.next() }
            let asking = Task { await ask("hang", engine) }
            _ = await hang.next()
            asking.cancel()
            await asking.value
            if round % 5 == 0 {
                _ = try? await engine.reindexItems(["good", "crash", "good too"], of: bundle)
                _ = try? await engine.reindexAll(bundle)
            }
            await engine.prewarm(bundle)
            try await engine.release(bundle)
        }
        await engine.close()
    }

    /// Sends a request and ignores its result, which other tests check.
    private func ask(_ name: String, _ engine: SearchlightEngine) async {
        _ = try? await engine.data(of: name, as: "public.utf8-plain-text", bundle: bundle)
        // Ends the quarantine that the three crashes per round cause, which is not tested here.
        _ = try? await engine.release(bundle)
    }
}
