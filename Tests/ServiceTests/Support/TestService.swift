// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import Synchronization
import TestSupport

@testable import SearchlightService

/// A service in this process, with its own store.
final class TestService: Sendable {
    let folder: TemporaryFolder
    let service: Daemon
    let lines: Lines
    private let running: Task<Daemon.Ending, Never>

    /// The log lines of a service.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func contains(_ text: String) -> Bool { all.contains { $0.contains(text) } }
    }

    init(
        folder: TemporaryFolder? = nil, limits: ServiceLimits = ServiceLimits(), identity: ClientIdentity? = nil,
        _ change: (inout ServiceConfiguration) -> Void = { _ in }
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        let lines = Lines()
        self.lines = lines
        var configuration = ServiceConfiguration(
            engine: Self.engine(folder), log: ServiceLog { _, line in lines.add(line) })
        configuration.limits = limits
        configuration.clock = SteadyClock.shared
        if let identity { configuration.identify = { _ in identity } }
        change(&configuration)
        let service = try await Daemon(configuration)
        self.service = service
        running = Task { await service.run() }
    }

    static func engine(_ folder: TemporaryFolder) -> EngineConfiguration {
        EngineConfiguration(
            storeDirectory: folder.path("store"), access: .readWrite, extensionSearchPath: [folder.path("extensions")],
            worker: WorkerConfiguration(workerPath: "/nonexistent", frameworkFolder: nil, environment: [:]))
    }

    var store: String { folder.path("store") }

    /// Returns a new connection.
    func connect() throws -> TestClient { try TestClient(store: store) }

    /// Returns a connection that has identified itself as an app.
    func app(_ bundle: String = "com.example.notes") async throws -> TestClient {
        let client = try connect()
        _ = try await client.hello(.app, bundle: bundle)
        return client
    }

    /// Returns a connection that has identified itself as a shell.
    func shell() async throws -> TestClient {
        let client = try connect()
        _ = try await client.hello(.shell, bundle: nil)
        return client
    }

    /// Stops the service, and returns the reason for its exit.
    @discardableResult
    func stop() async -> Daemon.Ending {
        service.requestStop()
        return await running.value
    }

    /// Returns the reason why the service exits.
    func ending() async -> Daemon.Ending { await running.value }
}

/// Polls until a condition that sends no notification holds. The time limit is long enough for a
/// machine that is ten times slower.
func eventually(_ condition: () async throws -> Bool) async rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(100)
    while try await !condition() {
        guard ContinuousClock.now < deadline else { return false }
        try? await Task.sleep(for: .milliseconds(2))
    }
    return true
}
