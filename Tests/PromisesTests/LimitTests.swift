// SPDX-License-Identifier: Apache-2.0
import CSandbox
import Foundation
import Glibc
import Synchronization
import SystemSupport
import TestSupport
import Testing

@testable import Promises

@Suite("Limits of a delivery", .timeLimit(.minutes(10)))
struct LimitTests {
    private static let short = DeliveryLimits(stall: .milliseconds(50), total: .seconds(60))

    @Test("A provider that stops sending is given up, and nothing appears")
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

    @Test("The time of the receiver does not count for the provider")
    func pausingReceiver() throws {
        let clock = Mutex(ContinuousClock.now)
        let limits = DeliveryLimits(stall: .seconds(10), total: .seconds(10))
        let pace = Pace(limits, now: { clock.withLock { $0 } })
        let output = try Pipe.holding([1, 2])
        var source = ByteSource(stream: output.number, pace: pace)
        let count = try source.read(limit: 2, for: "somebody") { _ throws(PromiseError) in
            clock.withLock { $0 += .seconds(3600) }
        }
        #expect(count == 2)
        // If the provider needs the same hour, that is too long.
        let (slow, input) = try Pipe.ends()
        defer { input.end() }
        input.send([1])
        var late = ByteSource(stream: slow.number, pace: Pace(limits, now: { clock.withLock { $0 } }))
        clock.withLock { $0 += .seconds(3600) }
        #expect(throws: PromiseError.tooSlow(path: "somebody", limit: limits.total)) {
            _ = try late.read(limit: 2, for: "somebody") { _ throws(PromiseError) in }
        }
    }

    @Test("A provider completes although its receiver does not read yet, which gets everything later")
    func heldBytes() throws {
        let bytes = pattern(300_000)
        let (given, provider) = try Pipe.ends()
        let (taken, receiver) = try Pipe.ends()
        let received = Mutex<[UInt8]>([])
        let done = DispatchSemaphore(value: 0)
        onThread {
            provider.send(bytes)
            provider.end()
            // Read only now: a delivery that waited for the receiver would never get here.
            var buffer = [UInt8](repeating: 0, count: 65536)
            while case let count = read(taken.number, &buffer, buffer.count), count > 0 {
                received.withLock { $0 += buffer[..<count] }
            }
            done.signal()
        }
        let limits = DeliveryLimits(patience: .zero)
        let report = try Delivery.deliver(
            .data(.stream(given, length: UInt64(bytes.count))), to: .stream(descriptor: receiver.number), token: 2,
            options: DeliveryOptions(limits: limits, wantsDigest: true))
        receiver.end()
        done.wait()
        #expect(report.bytes == UInt64(bytes.count))
        #expect(received.withLock { $0 } == bytes)
        let digest = try RunningDigest()
        bytes.withUnsafeBytes { digest.add($0) }
        #expect(report.digest == digest.finish())
    }

    @Test("Data for a receiver is buffered in memory if unnamed files are not possible")
    func heldInMemory() throws {
        for folders in [[], ["/proc", "/nowhere"], HeldBytes.standardFolders] {
            var held = try HeldBytes(folders: folders)
            let bytes = pattern(300_000)
            for part in [bytes[..<100], bytes[100...]] {
                try Array(part).withUnsafeBytes { try held.append($0) }
            }
            var read: [UInt8] = []
            for _ in 0..<2 {
                read = []
                try held.read { read.append(contentsOf: $0) }
            }
            #expect(read == bytes)
        }
    }

    @Test("A receiver that does not read is waited for until it closes, and its descriptor is unchanged")
    func receiverGoes() throws {
        var ends: [Int32] = [-1, -1]
        #expect(csandbox_pipe(&ends) == 0)
        let input = PipeInput(number: ends[1])
        let flags = fcntl(input.number, F_GETFL)
        let reader = Mutex<PipeInput?>(PipeInput(number: ends[0]))
        let control = DeliveryControl { _ in
            // The first bytes have arrived, and the receiver stops reading.
            onThread { reader.withLock { $0.take() }?.end() }
        }
        #expect(throws: PromiseError.inputOutput(operation: "Writing to", path: "the output", code: EPIPE)) {
            try Delivery.deliver(
                .data(.inline(pattern(1 << 20))), to: .stream(descriptor: input.number), token: 2,
                options: DeliveryOptions(limits: Self.short, control: control))
        }
        #expect(fcntl(input.number, F_GETFL) == flags)
        input.end()
    }

    @Test("A cancellation does not wait for a receiver that does not read or appear")
    func cancelWaiting() throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let (near, far) = (OwnedDescriptor(adopting: ends[0]), OwnedDescriptor(adopting: ends[1]))
        let reins = Mutex<DeliveryControl?>(nil)
        let control = DeliveryControl { _ in onThread { reins.withLock { $0 }?.cancel() } }
        reins.withLock { $0 = control }
        #expect(throws: PromiseError.cancelled) {
            try Delivery.deliver(
                .data(.inline(pattern(8 << 20))), to: .stream(descriptor: near.number), token: 3,
                options: DeliveryOptions(control: control))
        }
        withExtendedLifetime(far) {}
        let folder = try TemporaryFolder()
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(throws: PromiseError.cancelled) {
            try Delivery.deliver(
                .data(.inline([1])), to: .file(path: folder.path("pipe")), token: 3,
                options: DeliveryOptions(limits: DeliveryLimits(opening: .seconds(3600)), control: control))
        }
    }

    @Test("A provider that sends a byte now and then does not keep a delivery alive")
    func trickle() throws {
        let (output, input) = try Pipe.ends()
        let isOver = Mutex(false)
        let done = DispatchSemaphore(value: 0)
        onThread {
            // The transfer exceeds the total time limit, although each byte is within the stall
            // limit.
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

    @Test("A stream is read from a pipe or a socket, and from nothing else that could block")
    func sources() throws {
        var ends: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        let near = OwnedDescriptor(adopting: ends[0])
        PipeInput(number: ends[1]).send([1, 2])
        PipeInput(number: ends[1]).end()
        #expect(try Delivery.collect(.stream(near, length: 2), limit: 2) == [1, 2])
        let zero = OwnedDescriptor(adopting: open("/dev/zero", O_RDONLY | O_CLOEXEC))
        #expect(
            throws: PromiseError.inputOutput(operation: "Reading the content for", path: "memory", code: EINVAL)
        ) {
            try Delivery.collect(.stream(zero, length: 2), limit: 2)
        }
    }

    @Test("The standard limits match the design")
    func standard() {
        #expect(
            DeliveryLimits()
                == DeliveryLimits(
                    stall: .seconds(10), total: .seconds(600), opening: .seconds(10), patience: .seconds(5)))
        let start = ContinuousClock.now
        let pace = Pace(DeliveryLimits(), now: { start })
        #expect(pace.nextDeadline == start + .seconds(10))
        #expect(
            Pace(DeliveryLimits(stall: .seconds(20), total: .seconds(10)), now: { start }).nextDeadline
                == start + .seconds(10))
        #expect(Pace.milliseconds(.seconds(10)) == 10_000)
        #expect(Pace.milliseconds(.nanoseconds(1)) == 1)
        #expect(Pace.milliseconds(.zero) == 0)
        #expect(Pace.milliseconds(.seconds(-5)) == 0)
        #expect(Pace.milliseconds(.seconds(Int64.max / 2000)) == .max)
        #expect(Pace.milliseconds(.seconds(Int64.max)) == .max)
    }
}
