// SPDX-License-Identifier: Apache-2.0
import BusTransport
import CSystem
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// The same exchange as ``FrameProcess`` over the project's sd-bus connection, without a host, a
/// sandbox or an extension. So the difference of the two is the cost of sd-bus, and the rest of a
/// call to a worker is the host's own.
final class BusEchoProcess: Sendable {
    private let process: Int32
    private let connection: BusConnection

    private static let member = BusMember("com.searchlight.Benchmark1", "Echo")
    private static let questionBytes = 120
    private static let answerBytes = 1024

    init() throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw BenchmarkError("No socket can be created: \(String(cString: strerror(errno))).")
        }
        let own = OwnedDescriptor(adopting: ends[0])
        let other = FileHandle(fileDescriptor: ends[1], closeOnDealloc: true)
        let child = Process()
        child.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        child.arguments = ["--bus-echo"]
        child.standardInput = other
        try child.run()
        process = child.processIdentifier
        connection = try BusConnection(
            adopting: own, side: .server, name: "bus-echo", onCall: { _ in }, onDisconnect: { _ in })
    }

    var identifier: Int32 { process }

    /// Sends a request and waits for its answer.
    func roundTrip() async throws {
        let answer = try await connection.call(
            Self.member, [.unsigned(1), .bytes([UInt8](repeating: 1, count: Self.questionBytes))])
        guard case .bytes(let bytes)? = answer.first, bytes.count == Self.answerBytes else {
            throw BenchmarkError("The answer over sd-bus is not the expected one.")
        }
    }

    /// Ends the child, which ends when the connection closes.
    func stop() {
        connection.close()
        var status: Int32 = 0
        waitpid(process, &status, 0)
    }

    /// Answers requests in the child process until the connection closes. A second thread answers,
    /// as in a worker, because an extension may need a long time for an answer.
    static func answer() throws {
        let requests = Handover<IncomingCall>()
        let connection = try BusConnection(
            adopting: OwnedDescriptor(adopting: dup(0)), side: .client, name: "bus-echo",
            onCall: { requests.add($0) }, onDisconnect: { _ in requests.end() })
        while let call = requests.next() { call.reply([.bytes([UInt8](repeating: 2, count: answerBytes))]) }
        withExtendedLifetime(connection) {}
    }
}
