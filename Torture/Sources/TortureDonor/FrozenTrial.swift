// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import BusTransport
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import ServiceMessages

/// Freezes a background worker and waits to be killed.
struct FrozenTrial {
    let folder: String
    let extensions: String
    let worker: String
    let bundle: String

    private struct Failure: Error { let outcome: PauseOutcome }

    func run() async throws {
        let (events, working) = AsyncStream.makeStream(of: Void.self)
        let host = ExtensionHost(
            configuration: WorkerConfiguration(
                workerPath: worker, frameworkFolder: nil, environment: ProcessInfo.processInfo.environment),
            registry: ExtensionRegistry(searchPath: [extensions]), receiver: Nobody()
        ) { event in
            if case .log(_, _, "working") = event { working.yield() }
        }
        let reindex = Task { try await host.reindexAll(bundle, origin: .background) }
        for await _ in events { break }
        let outcome = await host.pauseBackground(bundle, ThrottleNotice(reason: .userActive))
        guard outcome == .frozen else { throw Failure(outcome: outcome) }
        let line = Array("\(host.processIdentifiers[0])\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
        _ = try await reindex.value
    }
}

/// Discards all donations.
private struct Nobody: DonationReceiver {
    func receive(_ batch: IndexBatch) async throws(BusError) {}
    func clientState(of scope: IndexScope) async throws(BusError) -> [UInt8]? { nil }
    func identifiers(of scope: IndexScope, after: String, limit: Int) async throws(BusError) -> [String] { [] }
    func record(of identifier: String, bundle: String) async throws(BusError) -> RecordReply {
        RecordReply(record: nil)
    }
}
