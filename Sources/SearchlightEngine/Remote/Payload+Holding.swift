// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import ServiceMessages
import SystemSupport

extension Payload {
    /// Bytes to be sent: few of them inside of the message, many in a file without a name, so that nobody has to wait for
    /// whoever reads them.
    static func holding(_ bytes: [UInt8], for purpose: String) throws(EngineError) -> Payload {
        guard bytes.count > maximumInlineBytes else { return .inline(bytes) }
        return .stream(try file(holding: bytes, for: purpose), length: UInt64(bytes.count))
    }

    /// Bytes in a file without a name, from its start.
    package static func file(holding bytes: [UInt8], for purpose: String) throws(EngineError) -> OwnedDescriptor {
        let number = csandbox_memory_file()
        guard number >= 0 else { throw failure(purpose, errno) }
        let file = OwnedDescriptor(adopting: number)
        // The position stays at the start.
        let written = bytes.withUnsafeBytes { WholeTransfer.write($0, to: number, at: 0) }
        if case .failure(let error) = written { throw failure(purpose, error.code) }
        return file
    }

    private static func failure(_ purpose: String, _ code: Int32) -> EngineError {
        .storeFile(
            path: "in memory", operation: "Keeping what is sent to \(purpose)", detail: String(cString: strerror(code)))
    }
}
