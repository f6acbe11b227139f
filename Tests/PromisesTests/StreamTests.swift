// SPDX-License-Identifier: Apache-2.0
import Glibc
import Promises
import SystemSupport
import TestSupport
import Testing

@Suite("Delivering to a stream and to memory", .timeLimit(.minutes(10)))
struct StreamTests {
    @Test("Bytes of any length reach a stream")
    func toStream() throws {
        let (output, input) = try Pipe.ends()
        let source = try Pipe.holding(pattern(60_000))
        onThread {
            let destination = Destination.stream(descriptor: input.number)
            _ = try? Delivery.deliver(.inline(pattern(500_000)), to: destination, token: 1)
            _ = try? Delivery.deliver(.stream(source, length: 60_000), to: destination, token: 2)
            input.end()
        }
        #expect(readAll(output) == pattern(500_000) + pattern(60_000))
    }

    private func readAll(_ descriptor: OwnedDescriptor) -> [UInt8] {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(descriptor.number, &buffer, buffer.count)
            guard count > 0 else { return received }
            received += buffer[..<count]
        }
    }

    @Test("A closed receiver is an error and does not end the process")
    func brokenPipe() throws {
        let input = try Pipe.ends().input
        for _ in 0..<2 {
            #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: "the output", code: EPIPE)) {
                try Delivery.deliver(.inline([1]), to: .stream(descriptor: input.number), token: 3)
            }
        }
        input.end()
    }

    @Test("A non-blocking receiver is waited for")
    func nonblockingOutput() async throws {
        let (output, input) = try Pipe.ends()
        #expect(fcntl(input.number, F_SETFL, O_NONBLOCK) == 0)
        onThread {
            _ = try? Delivery.deliver(
                .inline(pattern(400_000)), to: .stream(descriptor: input.number), token: 4)
            input.end()
        }
        #expect(readAll(output) == pattern(400_000))
    }

    @Test("A closed descriptor is an error")
    func closedDescriptor() throws {
        #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: "the output", code: EBADF)) {
            try Delivery.deliver(.inline([1]), to: .stream(descriptor: -1), token: 5)
        }
        #expect(throws: PromiseError.self) {
            try Delivery.collect(.stream(OwnedDescriptor(adopting: -1), length: 1), limit: 10)
        }
    }

    @Test("Bytes are collected up to the limit and rejected above it")
    func collect() throws {
        #expect(try Delivery.collect(.inline(pattern(10)), limit: 10) == pattern(10))
        #expect(throws: PromiseError.tooLarge(length: 11, limit: 10)) {
            try Delivery.collect(.inline(pattern(11)), limit: 10)
        }
        #expect(try Delivery.collect(.inline([]), limit: 0) == [])
        #expect(try Delivery.collect(.stream(try Pipe.holding(pattern(10)), length: 10), limit: 10) == pattern(10))
        for length in [11, .max] as [UInt64] {
            #expect(throws: PromiseError.tooLarge(length: length, limit: 10)) {
                try Delivery.collect(.stream(try Pipe.holding([]), length: length), limit: 10)
            }
        }
    }

    @Test("A stream with more or fewer bytes than its length is rejected", arguments: [0, 9, 11, 50_000])
    func collectWrongLength(count: Int) throws {
        #expect(throws: PromiseError.wrongLength(expected: 10, received: UInt64(count))) {
            try Delivery.collect(.stream(try Pipe.holding(pattern(count)), length: 10), limit: 1 << 20)
        }
    }

    @Test("Large streams are collected while they are written")
    func collectLarge() throws {
        let source = try Pipe.feeding(pattern(300_000))
        #expect(try Delivery.collect(.stream(source, length: 300_000), limit: 1 << 20) == pattern(300_000))
    }
}
