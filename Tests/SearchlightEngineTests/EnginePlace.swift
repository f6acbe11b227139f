// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import Synchronization
import TestSupport

/// A folder with a store and extensions, and engines that cannot start workers.
struct EnginePlace {
    /// A wall clock that only the test advances.
    final class Time: Sendable {
        private let moment = Mutex(1_000_000.0)
        var now: Double { moment.withLock { $0 } }
        func pass(_ seconds: Double) { moment.withLock { $0 += seconds } }
        func pass(days: Double) { pass(days * 86400) }
    }

    let folder: TemporaryFolder
    let time = Time()

    init() throws { folder = try TemporaryFolder() }

    var store: String { folder.path("store") }
    var extensions: String { folder.path("extensions") }

    /// Installs an extension that the registry accepts but no worker can load.
    @discardableResult
    func install(_ identifier: String) throws -> (identifier: String, path: String) {
        (identifier, try PlainBundle(identifier, in: extensions).path)
    }

    /// Opens an engine, runs a body with it and closes it.
    func withEngine(_ body: (SearchlightEngine) async throws -> Void) async throws {
        let time = time
        var configuration = EngineConfiguration(
            storeDirectory: store, access: .readWrite, extensionSearchPath: [extensions],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]),
            now: { time.now })
        configuration.tracksExtensions = true
        let engine = try SearchlightEngine(configuration)
        do { try await body(engine) } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }
}
