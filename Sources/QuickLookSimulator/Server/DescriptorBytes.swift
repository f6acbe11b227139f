// SPDX-License-Identifier: Apache-2.0
import FlyingSocks
import Glibc
import Promises
import ServiceProtocol

/// The bytes that come out of a descriptor, read while they are sent: no more of them are in memory than one piece.
struct DescriptorBytes: AsyncBufferedSequence {
    typealias Element = UInt8

    private let descriptor: OwnedDescriptor
    private let length: UInt64

    /// A piece, in bytes.
    static let chunk = 256 << 10

    /// - Parameters:
    ///   - descriptor: A file or a stream, which nobody else reads.
    ///   - length: How many bytes there must be; more are left where they are.
    init(_ descriptor: OwnedDescriptor, length: UInt64) {
        self.descriptor = descriptor
        self.length = length
    }

    func makeAsyncIterator() -> Iterator { Iterator(descriptor: descriptor, length: length) }

    struct Iterator: AsyncBufferedIteratorProtocol {
        let descriptor: OwnedDescriptor
        let length: UInt64
        private var received: UInt64 = 0

        init(descriptor: OwnedDescriptor, length: UInt64) {
            self.descriptor = descriptor
            self.length = length
        }

        mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }

        /// - Throws: ``PromiseError``, if it ends early or stalls; the connection is closed then, by which the receiver knows
        ///   that it has not got everything.
        mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
            let wanted = Int(
                Swift.min(UInt64(Swift.max(1, Swift.min(count, DescriptorBytes.chunk))), length - received))
            guard wanted > 0 else { return nil }
            let (descriptor, before) = (descriptor, received)
            let bytes = try await onBlockingWork {
                Result { () throws(PromiseError) in try Self.read(descriptor, wanted, after: before) }
            }.get()
            guard !bytes.isEmpty else { throw PromiseError.wrongLength(expected: length, received: received) }
            received += UInt64(bytes.count)
            return bytes
        }

        private static func read(
            _ descriptor: OwnedDescriptor, _ count: Int, after received: UInt64
        ) throws(PromiseError) -> [UInt8] {
            var waiting = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            let limit = DeliveryLimits.standardStall
            while true {
                let ready = poll(&waiting, 1, Int32(limit.components.seconds * 1000))
                if ready < 0, errno == EINTR { continue }
                guard ready != 0 else { throw .stalled(path: "the browser", received: received, after: limit) }
                var bytes = [UInt8](repeating: 0, count: count)
                let result = Glibc.read(descriptor.number, &bytes, count)
                if result < 0, errno == EINTR || errno == EAGAIN { continue }
                guard result >= 0 else {
                    throw .inputOutput(operation: "Reading", path: "what the extension made", code: errno)
                }
                bytes.removeLast(count - result)
                return bytes
            }
        }
    }
}
