// SPDX-License-Identifier: Apache-2.0
import CSystem
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The alternative to sd-bus that the part “calls” measures: plain frames over a SEQPACKET socket.
///
/// The caller sends its frame itself, and a receiver thread resumes it, as in a connection to a
/// worker. In the child process a reader thread passes each request to a request thread, because an
/// extension may take any time. The frames have no types, no checks and no descriptors, so this is
/// the lower bound of such a protocol.
final class FrameProcess: Sendable {
    private let process: Int32
    private let socket: OwnedDescriptor
    private let waiting = Mutex<[UInt64: CheckedContinuation<Void, any Error>]>([:])
    private let next = Atomic<UInt64>(1)

    private static let questionBytes = 128
    private static let answerBytes = 1024

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw BenchmarkError("No socket can be created: \(String(cString: strerror(errno))).")
        }
        socket = OwnedDescriptor(adopting: ends[0])
        let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let child = Process()
        child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["--frames"]
        child.standardInput = other
        try child.run()
        process = child.processIdentifier
        Thread { self.receive() }.start()
    }

    var identifier: Int32 { process }

    /// Sends a request and waits for its answer.
    func roundTrip() async throws {
        let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
        try await withCheckedThrowingContinuation { continuation in
            waiting.withLock { $0[number] = continuation }
            var question = [UInt8](repeating: 1, count: Self.questionBytes)
            question.withUnsafeMutableBytes { $0.storeBytes(of: number, as: UInt64.self) }
            if send(socket.number, question, question.count, Int32(MSG_NOSIGNAL)) != question.count {
                waiting.withLock { $0.removeValue(forKey: number) }?.resume(throwing: Self.closed)
            }
        }
    }

    /// Ends the child, which ends when the socket closes.
    func stop() {
        shutdown(socket.number, Int32(SHUT_RDWR))
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    private static var closed: BenchmarkError { BenchmarkError("The other end of the frames is closed.") }

    /// Resumes callers until the socket closes.
    private func receive() {
        var answer = [UInt8](repeating: 0, count: Self.answerBytes)
        while recv(socket.number, &answer, answer.count, 0) == Self.answerBytes {
            let number = answer.withUnsafeBytes { $0.load(as: UInt64.self) }
            waiting.withLock { $0.removeValue(forKey: number) }?.resume()
        }
        let rest = waiting.withLock { waiting in
            defer { waiting = [:] }
            return waiting.values
        }
        for continuation in rest { continuation.resume(throwing: Self.closed) }
    }

    /// Answers requests in the child process until the socket closes.
    static func answer() {
        let requests = Handover<UInt64>()
        let worker = Thread {
            var answer = [UInt8](repeating: 2, count: answerBytes)
            while let number = requests.next() {
                answer.withUnsafeMutableBytes { $0.storeBytes(of: number, as: UInt64.self) }
                guard send(0, answer, answer.count, Int32(MSG_NOSIGNAL)) == answer.count else { return }
            }
        }
        worker.start()
        var question = [UInt8](repeating: 0, count: questionBytes)
        while recv(0, &question, question.count, 0) == questionBytes {
            requests.add(question.withUnsafeBytes { $0.load(as: UInt64.self) })
        }
        requests.end()
    }
}
