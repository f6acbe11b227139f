// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Glibc
import ServiceMessages
import SystemSupport

extension Payload {
    /// Returns a payload for the given bytes. A small payload is part of the message. A large
    /// payload is in a memory file, so that the sender does not wait for the reader.
    static func holding(_ bytes: [UInt8], for purpose: String) throws(EngineError) -> Payload {
        guard bytes.count > maximumInlineBytes else { return .inline(bytes) }
        return .stream(try file(holding: bytes, for: purpose), length: UInt64(bytes.count))
    }

    /// Creates a memory file (memfd) with the given bytes, positioned at its start.
    package static func file(holding bytes: [UInt8], for purpose: String) throws(EngineError) -> OwnedDescriptor {
        let number = csandbox_memory_file()
        guard number >= 0 else { throw failure(purpose, errno) }
        let file = OwnedDescriptor(adopting: number)
        // `pwrite` leaves the file position at the start.
        let written = bytes.withUnsafeBytes { WholeTransfer.write($0, to: number, at: 0) }
        if case .failure(let error) = written { throw failure(purpose, error.code) }
        return file
    }

    private static func failure(_ purpose: String, _ code: Int32) -> EngineError {
        .storeFile(
            path: "in memory", operation: "Storing the data to \(purpose)", detail: String(cString: strerror(code)))
    }
}
