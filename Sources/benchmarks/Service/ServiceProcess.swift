// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServiceProtocol

/// A service of this build, in a process of its own.
final class ServiceProcess {
    let store: String
    /// How long it took until it could be connected to.
    private(set) var startUp = Duration.zero
    private let process = Process()

    var identifier: pid_t { process.processIdentifier }

    /// Starts one and waits until it can be connected to.
    ///
    /// - Parameters:
    ///   - extensions: The folder of its extensions; the usual ones if `nil`.
    ///   - environment: Its variables.
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
        process.executableURL = program
        process.arguments = ["--store", store, "--no-session-bus"] + (extensions.map { ["--extensions", $0] } ?? [])
        process.environment = environment
        // What is written down of attackers is nobody's business here.
        guard FileManager.default.createFile(atPath: store + ".log", contents: nil),
            let log = FileHandle(forWritingAtPath: store + ".log")
        else { throw BenchmarkError("\(store).log cannot be written.") }
        process.standardError = log
        let start = ContinuousClock.now
        try RunningChildren.run(process)
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

    func stop() {
        process.terminate()
        process.waitUntilExit()
        RunningChildren.forget(process)
    }
}

/// An app that speaks with a service.
final class ServiceApp: Sendable {
    let connection: BusConnection

    /// Connects, and says whose items it speaks of.
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
