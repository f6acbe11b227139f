// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TestSupport
import Testing

/// `searchlight quicklook` as a separate process.
final class ServedCommand: Sendable {
    let process: ChildProcess
    /// Keeps the folders alive.
    private let command: Command
    /// The address without a secret.
    let address: String
    /// The file that leads to the page.
    let file: String

    /// Starts it and waits until it accepts connections.
    init(_ command: Command, _ arguments: String..., environment changes: [String: String] = [:]) throws {
        self.command = command
        let output = Pipe()
        process = try ChildProcess(
            try BuiltProducts.program("searchlight"), ["quicklook", "--json"] + arguments,
            environment: try command.environment.merging(changes) { $1 }, output: .pipe(output), errors: .nothing)
        var text = Data()
        while !text.contains(UInt8(ascii: "}")) {
            let more = output.fileHandleForReading.availableData
            try #require(!more.isEmpty, "it has ended")
            text += more
        }
        let report = try JSONDecoder().decode([String: String].self, from: text)
        (address, file) = (try #require(report["url"]), try #require(report["file"]))
    }

    deinit { process.send(SIGKILL) }

    var port: UInt16 { get throws { UInt16(try #require(URLComponents(string: address)?.port)) } }

    /// Sends a signal, and waits for the end.
    func end(_ signal: Int32 = SIGTERM) -> (ending: ChildProcess.Ending, after: Duration) {
        let start = ContinuousClock.now
        process.send(signal)
        return (process.wait(), ContinuousClock.now - start)
    }

    /// Returns the command's peak memory so far, in KiB.
    func peakMemory() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
        return try #require(text.firstMatch(of: /VmHWM:\s+(\d+) kB/).flatMap { Int($0.1) })
    }
}
