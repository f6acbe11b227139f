// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import ServiceMessages
import SystemSupport
import TestSupport

/// A service from this build in its own process.
final class ServiceProcess {
    let store: String
    /// The time from the start until the service accepted a connection.
    private(set) var startUp = Duration.zero
    private let process: TestSupport.ChildProcess

    var identifier: pid_t { process.identifier }

    /// Starts a service and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - extensions: The folder with its extensions; `nil` for the default folders.
    ///   - environment: The environment variables.
    init(
        store: String, extensions: String? = nil,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws {
        self.store = store
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "searchlightd")
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw BenchmarkError("\(program.path) is missing. Run “swift build -c release --product searchlightd”.")
        }
        // A log file keeps messages about the attackers away from standard error.
        guard FileManager.default.createFile(atPath: store + ".log", contents: nil),
            let log = FileHandle(forWritingAtPath: store + ".log")
        else { throw BenchmarkError("\(store).log cannot be written.") }
        let start = ContinuousClock.now
        // Not a process group leader, so that it can create its own session, as a service started
        // by a service manager does.
        process = try TestSupport.ChildProcess(
            program.path,
            ["--store", store, "--no-session-bus"] + (extensions.map { ["--extensions", $0] } ?? []),
            environment: environment, errors: .file(log))
        RunningChildren.note(process.identifier)
        for _ in 0..<10_000 {
            guard process.isRunning else { break }
            if (try? ServiceSocket.connect(inFolder: store)) != nil {
                startUp = ContinuousClock.now - start
                return
            }
            Thread.sleep(forTimeInterval: 0.001)
        }
        stop()
        throw BenchmarkError("The service does not listen in \(store); \(store).log may say why.")
    }

    func stop(_ signal: Int32 = SIGTERM) {
        RunningChildren.forget(process.identifier)
        process.send(signal)
        process.wait()
    }
}

/// An app that is a client of a service.
final class ServiceApp: Sendable {
    let connection: BusConnection

    /// Connects and identifies as the bundle of its items.
    init(store: String, bundle: String) async throws {
        connection = try BusConnection(
            adopting: try ServiceSocket.connect(inFolder: store), side: .client, name: "benchmark",
            onCall: { $0.refuse(name: BusErrorName.unknownMethod, message: "") }, onDisconnect: { _ in })
        _ = try await connection.call(
            Hello.member, Hello(role: .app, bundle: bundle, program: "benchmarks").arguments)
    }

    func send(_ request: IndexRequest) async throws {
        _ = try await connection.call(request.member, request.arguments)
    }

    func query(_ text: String) async throws {
        let request = QueryRequest.query(
            number: 1, QueryPageRequest(text: text, filters: [], attributes: ["title"], cursor: [], limit: 20))
        _ = try await connection.call(request.member, request.arguments)
    }
}
