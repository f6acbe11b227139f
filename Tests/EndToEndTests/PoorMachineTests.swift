// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SearchlightEngine
import SystemSupport
import TestSupport
import Testing

/// A process limit, and the values to try.
struct SweptLimit: Sendable, CustomTestStringConvertible {
    /// The limit's option for `prlimit`.
    let option: String
    /// The limit's name in messages.
    let name: String
    /// Up to this value, the kernel or the loader may terminate the program with a signal before
    /// any of its code runs.
    var ofTheKernel: UInt64 = 0
    let values: [UInt64]
    var testDescription: String { name }

    private static let mebibyte: UInt64 = 1 << 20

    static let all: [SweptLimit] = [
        SweptLimit(
            option: "nofile", name: "RLIMIT_NOFILE",
            values: [3, 4, 5, 6, 8, 12, 16, 32, 63, 64, 128, 255, 256, 1024]),
        SweptLimit(
            option: "fsize", name: "RLIMIT_FSIZE",
            values: [0, 1, 512, 4096, 65536, mebibyte, 63 * mebibyte, 64 * mebibyte, 1024 * mebibyte]),
        // Below this value, the kernel's own arguments and the loader do not fit.
        SweptLimit(
            option: "stack", name: "RLIMIT_STACK", ofTheKernel: 32 << 10,
            values: [16, 48, 64, 128, 512, 1024, 2048, 8192, 65536].map { $0 << 10 }),
        // The program's own segments do not fit, so the kernel terminates the process in execve(2).
        SweptLimit(
            option: "as", name: "RLIMIT_AS", ofTheKernel: 128 * mebibyte,
            values: [1, 16, 48, 96, 128, 144, 160, 200, 240, 280, 300, 320, 340, 400, 600, 1000, 4000].map { $0 << 20 }),
        SweptLimit(
            option: "data", name: "RLIMIT_DATA", ofTheKernel: 8 * mebibyte,
            values: [1, 2, 4, 8, 12, 16, 32, 64, 100, 150, 180, 200, 220, 260, 300, 400, 1000].map { $0 << 20 }),
        SweptLimit(option: "memlock", name: "RLIMIT_MEMLOCK", values: [0, 4096, mebibyte]),
        SweptLimit(option: "sigpending", name: "RLIMIT_SIGPENDING", values: [0, 1, 16]),
    ]

    static let processes = SweptLimit(
        option: "nproc", name: "RLIMIT_NPROC", values: [1, 2, 3, 4, 6, 8, 12, 16, 17, 18, 20, 24, 32, 64, 200, 1000])
}

@Suite(
    "On a poor machine", .timeLimit(.minutes(10)),
    .enabled(if: Sanitizer.current == nil, "sanitizers need memory of their own"))
struct PoorMachineTests {
    /// The programs, and the exit statuses that are allowed with an ample limit.
    private static let programs: [(program: String, arguments: [String], ample: Set<Int32>)] = [
        ("searchlight", ["--version"], [0]), ("searchlight", ["status"], [0]),
        ("searchlight", ["search", "pear"], [0]), ("searchlight", ["reindex"], [0]),
        ("searchlight", ["quicklook", "--no-open", "--idle-exit", "1"], [0]),
        ("searchlightd", ["--idle-exit", "1", "--no-session-bus"], [0]), ("searchlight-worker", ["--version"], [0]),
    ]

    /// The exit of a program under a limit.
    private struct Trial {
        var value: UInt64
        var ending: ChildProcess.Ending
        var output: String
        var duration: Duration
    }

    /// Runs each program under each value of a limit, one at a time.
    private static func trials(
        of limit: SweptLimit, _ prefix: [String], _ environment: [String: String]
    ) throws -> [[Trial]] {
        try programs.map { program, arguments, _ in
            try limit.values.map { value in
                let start = ContinuousClock.now
                let (ending, output) = try ChildProcess.run(
                    "/usr/bin/timeout",
                    ["--foreground", "-k", "1", "30"] + prefix
                        + ["/usr/bin/prlimit", "--\(limit.option)=\(value):\(value)"]
                        + [try BuiltProducts.program(program)] + arguments,
                    environment: environment)
                return Trial(value: value, ending: ending, output: output, duration: ContinuousClock.now - start)
            }
        }
    }

    private func check(_ limit: SweptLimit, _ trials: [[Trial]]) {
        for ((program, arguments, ample), trials) in zip(Self.programs, trials) {
            var hasWorked = false
            for trial in trials {
                let (value, ending, output, duration) = (trial.value, trial.ending, trial.output, trial.duration)
                let what: Comment = "\(program) \(arguments.first ?? ""), \(limit.name) \(value): \(ending), \(output)"
                switch ending.status {
                case 71:
                    #expect(!hasWorked, what)
                    #expect(output.contains(limit.name) && output.contains("ulimit"), what)
                    #expect(duration < .seconds(5), what)
                case 127: #expect(output.contains("error while loading shared libraries"), what)
                case 128 + SIGSEGV, 128 + SIGKILL: #expect(value <= limit.ofTheKernel && output.isEmpty, what)
                // The command started, but its worker could not.
                case 1: #expect(output.contains("No worker could be started") && output.contains(limit.name), what)
                default:
                    #expect(ample.contains(ending.status), what)
                    hasWorked = true
                }
            }
            #expect(hasWorked, "\(program) \(arguments)")
        }
    }

    @Test(
        "each program works, or names the limit that is too small, and ends",
        .enabled(if: Alone.isSo, Comment(rawValue: Alone.hint)))
    func sweep() async throws {
        // All limits are tried concurrently, each with its own store, because most programs wait
        // for a second before they exit.
        let results = try await withThrowingTaskGroup(of: (SweptLimit, Command, [[Trial]]).self) { group in
            for limit in SweptLimit.all {
                let command = try Command.indexed()
                group.addTask {
                    let environment = try command.environment
                    return try await withCheckedThrowingContinuation { continuation in
                        Thread.detachNewThread {
                            continuation.resume(
                                with: Result { (limit, command, try Self.trials(of: limit, [], environment)) })
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == SweptLimit.all.count)
        for (limit, _, trials) in results { check(limit, trials) }
    }

    @Test(
        "with few processes each program works, or reports it",
        .enabled(if: Alone.isSo, Comment(rawValue: Alone.hint)),
        .enabled(if: geteuid() == 0, "that limit is none for root, and others' processes count for other users"))
    func processes() throws {
        let user: uid_t = 12347
        let command = try Command.indexed()
        let folder = command.harness.folder
        _ = try CFixture.run("/bin/chown", ["-R", "\(user):\(user)", folder])
        defer { _ = try? CFixture.run("/bin/chown", ["-R", "0:0", folder]) }
        let prefix = ["/usr/bin/setpriv", "--reuid", "\(user)", "--regid", "\(user)", "--clear-groups"]
        let (status, _) = try CFixture.run(
            prefix[0], Array(prefix.dropFirst()) + [try BuiltProducts.program("searchlight"), "--version"],
            environment: try command.environment)
        // The build products may be in a folder that other users cannot enter.
        try #require(status == 0)
        check(.processes, try Self.trials(of: .processes, prefix, try command.environment))
    }

    @Test(
        "a worker that cannot start reports the reason, without a failure of its extension",
        arguments: ["nofile=16:16", "stack=65536:65536", "fsize=4096:4096", "data=33554432:33554432"])
    func worker(limit: String) async throws {
        let harness = try Harness()
        let bundle = try harness.installFixture("notebook")
        let program = harness.folder + "/worker"
        let text = "#!/bin/sh\nexec /usr/bin/prlimit --\(limit) \(try BuiltProducts.program("searchlight-worker"))\n"
        try Data(text.utf8).write(to: URL(filePath: program))
        try #require(chmod(program, 0o755) == 0)
        try await harness.withEngine { engine async throws in _ = try await engine.reindexAll(bundle) }
        let engine = try harness.engine(worker: program)
        // More often than the tolerated number of crashes.
        for _ in 0..<5 {
            let error = await #expect(throws: EngineError.self) { _ = try await engine.reindexAll(bundle) }
            guard case .extension(.workerUnavailable(let reason))? = error else {
                Issue.record("\(String(describing: error))")
                break
            }
            #expect(reason.contains("RLIMIT_") && reason.contains("ulimit"), "\(reason)")
        }
        await engine.close()
    }

    @Test("a service without free descriptors rejects new clients, and continues")
    func descriptorsRunOut() throws {
        let command = try Command.indexed()
        let service = try ChildProcess(
            "/usr/bin/prlimit",
            ["--nofile=256:256", try BuiltProducts.program("searchlightd"), "--no-session-bus"],
            environment: command.environment)
        defer {
            service.send(SIGKILL)
            service.wait()
        }
        // The socket file appears a moment before a process listens.
        while (try? ServiceSocket.connect(inFolder: command.harness.store)) == nil, service.isRunning {
            sched_yield()
        }
        var clients: [OwnedDescriptor] = []
        for _ in 0..<200 {
            // Each client uses some of the service's descriptors. Clients that connect when no
            // descriptor is free are disconnected.
            guard let client = try? ServiceSocket.connect(inFolder: command.harness.store) else { continue }
            clients.append(client)
        }
        #expect(clients.count > 50)
        _ = try command("search", "pear")
        #expect(service.isRunning)
        clients = []
        // The service notices the disconnections a moment later.
        var text = ""
        for _ in 0..<1000 where !text.contains("Answered by: the service") {
            text = try command("status").output
            guard service.isRunning else { break }
        }
        #expect(text.contains("Answered by: the service"), "\(text)")
        #expect(service.isRunning)
        service.send(SIGTERM)
        #expect(service.wait() == .exited(0))
    }
}
