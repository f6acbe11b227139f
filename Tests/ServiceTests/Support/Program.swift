// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceProtocol
import TestSupport
import Testing

/// The real program, over a store of its own.
final class Program: Sendable {
    let folder: TemporaryFolder
    let process: pid_t
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

    /// Starts it and waits until it listens.
    init(
        folder: TemporaryFolder, arguments: [String] = [], environment: [String: String] = [:],
        waits: Bool = true
    ) async throws {
        self.folder = folder
        log = folder.path("log-\(UUID().uuidString)")
        let arguments =
            [try Self.path("searchlightd"), "--store", folder.path("store"), "--no-session-bus"] + arguments
        process = try Self.spawn(arguments, environment: environment, output: log)
        guard waits else { return }
        let log = log
        let listens = await eventually {
            (try? String(contentsOfFile: log, encoding: .utf8))?.contains("Listening on") == true
        }
        try #require(listens, "\(output)")
    }

    private static func spawn(
        _ arguments: [String], environment: [String: String], output: String
    ) throws -> pid_t {
        var environment = environment
        environment["LD_LIBRARY_PATH"] = ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"]
        environment["PATH"] = "/usr/bin:/bin"
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var process = pid_t()
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in words + variables { free(pointer) } }
        let result = posix_spawn(&process, arguments[0], &actions, nil, &words, &variables)
        try #require(result == 0)
        return process
    }

    /// What it wrote down.
    var output: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    func send(_ signal: Int32) { kill(process, signal) }

    /// Waits for its end: the exit status, or 128 and the signal.
    func wait() async -> Int32 {
        await onThread { [process] in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0 && errno == EINTR {}
            return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
        }
    }

    /// Runs another program to its end: its exit status and what it printed.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await onThread {
            Result {
                let process = Process()
                process.executableURL = URL(filePath: program)
                process.arguments = arguments
                let pipe = Pipe()
                process.standardOutput = pipe
                process.standardError = pipe
                try process.run()
                let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
                process.waitUntilExit()
                return (process.terminationStatus, output)
            }
        }.get()
    }

    func app(_ bundle: String = "com.example.notes") async throws -> TestClient {
        let client = try TestClient(store: folder.path("store"))
        try await client.hello(.app, bundle: bundle)
        return client
    }
}

/// Blocks another thread than those on which tasks run: there may be only two of these.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(returning: body()) }
    }
}
