// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Glibc
import IdleScheduling
import SchedulerSimulation
import SystemSupport

/// Reads traces.
enum TraceFile {
    /// Reads a trace. `-` stands for standard input; a name without a slash is first looked up
    /// among the shipped traces.
    ///
    /// - Parameter policy: A configuration file whose rules replace the trace's rules.
    static func trace(_ name: String, policy: String?) throws(CommandFailure) -> Trace {
        let bytes: [UInt8]
        if let shipped = ShippedTrace(name: name) {
            bytes = Array(shipped.jsonLines.utf8)
        } else {
            bytes = try read(name, most: Trace.maximumBytes, isTrace: true)
        }
        var trace: Trace
        do throws(TraceError) {
            trace = try Trace(jsonLines: bytes)
        } catch {
            throw CommandFailure(
                message: "Reading \(shown(name)) as a trace failed. \(error) docs/TRACES.md describes the format.",
                status: .failure)
        }
        guard let policy else { return trace }
        let text = try read(policy, most: SchedulingPolicy.maximumConfigurationBytes, isTrace: false)
        do throws(PolicyError) {
            try trace.change(policy: String(decoding: text, as: UTF8.self))
        } catch {
            throw CommandFailure(message: "Reading the policy \(shown(policy)) failed. \(error)", status: .usage)
        }
        return trace
    }

    private static func shown(_ name: String) -> String { name == "-" ? "standard input" : name }

    /// Reads a file or standard input, up to one byte more than the limit.
    private static func read(_ name: String, most: Int, isTrace: Bool) throws(CommandFailure) -> [UInt8] {
        let number = name == "-" ? dup(STDIN_FILENO) : open(absolute(name), O_RDONLY | O_CLOEXEC)
        guard number >= 0 else {
            let code = errno
            var message = "Opening \(shown(name)) failed: \(String(cString: strerror(code)).lowercased())."
            if isTrace, code == ENOENT, !name.contains("/") {
                message +=
                    " The traces of this program: \(ShippedTrace.all.map(\.name).joined(separator: ", "))."
            }
            throw CommandFailure(message: message, status: .inputOutput)
        }
        let descriptor = OwnedDescriptor(adopting: number)
        let tooLarge = CommandFailure(
            message: """
                Reading \(shown(name)) failed: it is larger than the limit of \
                \(most >> 20 > 0 ? "\(most >> 20) MiB" : "\(most >> 10) KiB").
                """,
            status: .failure)
        var status = stat()
        if fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > most {
            throw tooLarge
        }
        let bytes: [UInt8]
        do throws(ErrnoCode) { bytes = try WholeTransfer.bytes(of: descriptor.number, upTo: most + 1) } catch {
            throw CommandFailure(
                message: "Reading \(shown(name)) failed: \(String(cString: strerror(error.code)).lowercased()).",
                status: .inputOutput)
        }
        guard bytes.count <= most else { throw tooLarge }
        return bytes
    }
}
