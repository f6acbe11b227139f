// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Dispatch
import Glibc
import ServiceProtocol

extension Payload {
    /// Prepares bytes for sending: few of them inside the message, many through a stream that a thread fills while the
    /// receiver reads. A receiver that stops reading ends the stream.
    static func sending(_ bytes: [UInt8]) throws(BusError) -> Payload {
        guard bytes.count > maximumInlineBytes else { return .inline(bytes) }
        var ends: [Int32] = [-1, -1]
        let code = csandbox_pipe(&ends)
        guard code == 0 else { throw .system(operation: "creating a stream", code: code) }
        let reader = OwnedDescriptor(adopting: ends[0])
        let writer = OwnedDescriptor(adopting: ends[1])
        DispatchQueue.global().async {
            bytes.withUnsafeBytes { buffer in
                var rest = buffer[...]
                while !rest.isEmpty {
                    let count = write(writer.number, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                    if count < 0 && errno == EINTR { continue }
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
        return .stream(reader, length: UInt64(bytes.count))
    }
}
