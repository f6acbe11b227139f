// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

@testable import SearchlightService

@Suite("The monitor of libdispatch's pools", .timeLimit(.minutes(10)))
struct DispatchPoolMonitorTests {
    /// Returns the expiry of libdispatch's timer on the uptime clock, according to
    /// proc_pid_fdinfo(5).
    private func expiry(_ process: pid_t) throws -> String {
        let folder = "/proc/\(process)/fdinfo"
        let timers = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { number in
            try? String(contentsOfFile: "\(folder)/\(number)", encoding: .utf8)
        }.filter { $0.contains("clockid: \(CLOCK_MONOTONIC)\n") }
        try #require(timers.count == 1)
        let line = timers[0].split(separator: "\n").first { $0.hasPrefix("it_value:") }
        return String(try #require(line).dropFirst("it_value: ".count))
    }

    @Test("An idle daemon has disarmed it, a request arms it, and after that it is disarmed again")
    func suspendsAndResumes() async throws {
        let program = try await Program(folder: try TemporaryFolder())
        let app = try await program.app()
        for round in 0..<2 {
            #expect(try await eventually { try expiry(program.process) == "(0, 0)" })
            // The daemon disarms the timer after some seconds without a request. A test that is
            // paused for longer would miss the armed timer, so each check follows a request.
            #expect(
                try await eventually {
                    try await app.donate(["\(round)"])
                    return try expiry(program.process) != "(0, 0)"
                })
        }
        #expect(try await eventually { try expiry(program.process) == "(0, 0)" })
        app.connection.close()
        program.send(SIGTERM)
        #expect(await program.wait() == 0)
    }
}
