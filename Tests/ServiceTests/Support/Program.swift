// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// The real service program, with its own store.
final class Program: Sendable {
    let folder: TemporaryFolder
    private let child: ChildProcess
    private let log: String

    static func path(_ name: String) throws -> String {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        var folder = URL(filePath: program).deletingLastPathComponent().path
        if !FileManager.default.fileExists(atPath: folder + "/searchlightd") {
            folder =
                URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().path + "/.build/debug"
        }
        let path = folder + "/" + name
        try #require(FileManager.default.isExecutableFile(atPath: path), "\(path) is missing. Run “swift build” first.")
        return path
    }

    /// Starts the program and waits until it listens.
    init(
        folder: TemporaryFolder, arguments: [String] = [], environment: [String: String] = [:],
        waits: Bool = true
    ) async throws {
        self.folder = folder
        log = folder.path("log-\(UUID().uuidString)")
        let arguments =
            ["--store", folder.path("store"), "--no-session-bus"] + arguments
        var environment = environment
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        environment["PATH"] = "/usr/bin:/bin"
        try #require(FileManager.default.createFile(atPath: log, contents: nil))
        let file = try FileHandle(forWritingTo: URL(filePath: log))
        child = try ChildProcess(
            Self.path("searchlightd"), arguments, environment: environment, output: .file(file))
        guard waits else { return }
        let log = log
        let listens = await eventually {
            (try? String(contentsOfFile: log, encoding: .utf8))?.contains("Listening on") == true
        }
        try #require(listens, "\(output)")
    }

    /// The log of the program.
    var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    var process: pid_t { child.identifier }

    func send(_ signal: Int32) { child.send(signal) }

    /// Waits until the program exits. Returns the exit status, or 128 plus the signal.
    func wait() async -> Int32 {
        await onThread { [child] in child.wait().status }
    }

    /// Runs another program to its end. Returns its exit status and its output.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await onThread {
            Result {
                let (ending, output) = try ChildProcess.run(program, arguments)
                return (ending.status, output)
            }
        }.get()
    }

    func app(_ bundle: String = "com.example.notes") async throws -> TestClient {
        let client = try TestClient(store: folder.path("store"))
        try await client.hello(.app, bundle: bundle)
        return client
    }
}

/// Runs a body on a new thread, which may block. On Linux, libdispatch's global queues and the task
/// pool share their threads, of which there may be only two, and libdispatch replaces a blocked
/// thread only once a second.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
