// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import SystemSupport

/// Runs this program at the other end of a socket pair. It answers each 128 bytes with 1 KiB, which
/// gives a lower bound for a request to another process.
final class EchoProcess {
    private let process = Process()
    private let socket: OwnedDescriptor

    private static let questionBytes = 128
    private static let answerBytes = 1024

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw BenchmarkError("No socket can be created: \(String(cString: strerror(errno))).")
        }
        socket = OwnedDescriptor(adopting: ends[0])
        let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--echo"]
        process.standardInput = other
        process.standardOutput = other
        try process.run()
    }

    /// Sends one request and waits for the complete answer.
    func roundTrip() throws {
        let question = [UInt8](repeating: 1, count: Self.questionBytes)
        guard write(socket.number, question, question.count) == question.count,
            Self.readAll(socket.number, Self.answerBytes)
        else { throw BenchmarkError("The other end of the bare socket is closed.") }
    }

    func stop() {
        shutdown(socket.number, Int32(SHUT_RDWR))
        process.waitUntilExit()
    }

    /// Answers requests in the child process until the socket closes.
    static func answer() {
        let answer = [UInt8](repeating: 2, count: answerBytes)
        while readAll(0, questionBytes) { guard write(1, answer, answer.count) == answer.count else { return } }
    }

    private static func readAll(_ descriptor: Int32, _ count: Int) -> Bool {
        withUnsafeTemporaryAllocation(byteCount: count, alignment: 1) { buffer in
            var got = 0
            while got < count {
                let more = read(descriptor, buffer.baseAddress?.advanced(by: got), count - got)
                guard more > 0 else { return false }
                got += more
            }
            return true
        }
    }
}

/// Spawns a program and waits until it exits.
enum SpawnedProgram {
    static func run(_ path: String, _ words: [String] = []) throws {
        var process: pid_t = 0
        var arguments = ([path] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawn(&process, path, nil, nil, &arguments, nil)
        guard code == 0 else { throw BenchmarkError("\(path) cannot be started: \(String(cString: strerror(code))).") }
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }
}

/// Counts the voluntary context switches of all threads in a process.
enum Wakings {
    static func of(_ process: Int32) -> Int {
        let folder = "/proc/\(process)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.reduce(0) { sum, thread in
            let status = (try? String(contentsOfFile: "\(folder)/\(thread)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") } ?? ""
            return sum + (Int(line.split(whereSeparator: \.isWhitespace).last ?? "") ?? 0)
        }
    }
}
