// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ServiceProtocol
import Synchronization
import TestSupport
import Testing

@testable import Promises

@Suite("Limits of a delivery", .timeLimit(.minutes(2)))
struct LimitTests {
    private static let short = DeliveryLimits(stall: .milliseconds(50), total: .seconds(60))

    @Test("A provider that stops giving is given up, and nothing appears")
    func stalledProvider() throws {
        let folder = try TemporaryFolder()
        let (output, input) = try Pipe.ends()
        input.send([1, 2])
        let path = folder.path("out")
        #expect(throws: PromiseError.stalled(path: path, received: 2, after: Self.short.stall)) {
            try Delivery.deliver(.stream(output, length: 3), to: .file(path: path), token: 1, limits: Self.short)
        }
        #expect(throws: PromiseError.stalled(path: "memory", received: 0, after: Self.short.stall)) {
            try Delivery.collect(.stream(output, length: 3), limit: 10, limits: Self.short)
        }
        input.end()
        #expect(try folder.names.isEmpty)
    }

    @Test("A receiver that never reads is given up, and its own descriptor stays as it was")
    func stalledReceiver() throws {
        let (output, input) = try Pipe.ends()
        let flags = fcntl(input.number, F_GETFL)
        #expect(throws: PromiseError.receiverStalled(path: "the output", after: Self.short.stall)) {
            try Delivery.deliver(
                .inline(pattern(1 << 20)), to: .stream(descriptor: input.number), token: 2, limits: Self.short)
        }
        #expect(fcntl(input.number, F_GETFL) == flags)
        input.end()
        withExtendedLifetime(output) {}
    }

    @Test("A receiver behind a socket that never reads is given up too")
    func stalledSocket() throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (near, far) = (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
        #expect(throws: PromiseError.receiverStalled(path: "the output", after: Self.short.stall)) {
            try Delivery.deliver(
                .inline(pattern(8 << 20)), to: .stream(descriptor: near.number), token: 3, limits: Self.short)
        }
        withExtendedLifetime(far) {}
    }

    @Test("A provider that gives a byte now and then does not keep a delivery alive")
    func trickle() throws {
        let (output, input) = try Pipe.ends()
        let isOver = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        onThread {
            // More than there is time for: each byte is within the stall limit.
            while !isOver.withLock({ $0 }) {
                input.send([1])
                poll(nil, 0, 1)
            }
            input.end()
            done.signal()
        }
        let limits = DeliveryLimits(stall: .seconds(60), total: .milliseconds(100))
        #expect(throws: PromiseError.tooSlow(path: "memory", limit: limits.total)) {
            try Delivery.collect(.stream(output, length: 1 << 30), limit: 1 << 30, limits: limits)
        }
        isOver.withLock { $0 = true }
        done.wait()
    }

    @Test("A stream is read through a pipe or a socket, and nothing else that could block")
    func sources() throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let near = OwnedDescriptor(adopting: ends[0])
        PipeInput(number: ends[1]).send([1, 2])
        PipeInput(number: ends[1]).end()
        #expect(try Delivery.collect(.stream(near, length: 2), limit: 2) == [1, 2])
        let zero = OwnedDescriptor(adopting: open("/dev/zero", O_RDONLY | O_CLOEXEC))
        #expect(
            throws: PromiseError.inputOutput(operation: "Reading what is meant for", path: "memory", code: EINVAL)
        ) {
            try Delivery.collect(.stream(zero, length: 2), limit: 2)
        }
    }

    @Test("The standard limits are those of the design")
    func standard() {
        #expect(DeliveryLimits() == DeliveryLimits(stall: .seconds(10), total: .seconds(600)))
        #expect(Pace(DeliveryLimits()).patience.milliseconds == 10_000)
        #expect(Pace(DeliveryLimits(stall: .seconds(20), total: .seconds(10))).patience.isTheLast)
        #expect(Pace(DeliveryLimits(stall: .zero)).patience.milliseconds == 1)
        #expect(Pace(DeliveryLimits(stall: .seconds(Int64.max / 2000)), isBounded: false).patience.milliseconds == .max)
    }
}
