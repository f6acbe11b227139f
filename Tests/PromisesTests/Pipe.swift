// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import Promises
import SystemSupport

/// Anonymous streams, as a provider returns them.
enum Pipe {
    /// Returns both ends of a new stream.
    static func ends() throws -> (output: OwnedDescriptor, input: PipeInput) {
        var descriptors: [Int32] = [-1, -1]
        let code = csandbox_pipe(&descriptors)
        guard code == 0 else { throw PromiseError.inputOutput(operation: "Making", path: "a pipe", code: code) }
        return (OwnedDescriptor(adopting: descriptors[0]), PipeInput(number: descriptors[1]))
    }

    /// Returns a stream with these bytes, which fit into the kernel's buffer.
    static func holding(_ bytes: [UInt8]) throws -> OwnedDescriptor {
        let (output, input) = try ends()
        input.send(bytes)
        input.end()
        return output
    }

    /// Returns a stream with any number of bytes, which are written while it is read.
    static func feeding(_ bytes: [UInt8]) throws -> OwnedDescriptor {
        let (output, input) = try ends()
        onThread {
            input.send(bytes)
            input.end()
        }
        return output
    }
}

/// The write end of a stream. The owner must close it.
struct PipeInput: Sendable {
    let number: Int32

    func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(number, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            sent += count
        }
    }

    func end() { close(number) }
}

/// Runs a body on a separate thread, where it may block.
func onThread(_ body: @escaping @Sendable () -> Void) { Thread(block: body).start() }

/// Returns bytes that differ from their neighbours.
func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) } }
