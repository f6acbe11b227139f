// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import Promises
import Synchronization
import SystemSupport
import TestSupport
import Testing

@Suite("Several items dragged into a named pipe", .timeLimit(.minutes(10)))
struct DragStreamTests {
    /// Delivers each item's name as its bytes.
    private struct Names: PromiseProvider {
        func prewarm(_ items: [String]) async {}
        func fulfil(
            _ promise: Representation, of item: String, mayRetry: Bool,
            onProgress: @escaping @Sendable (ProviderProgress) -> Void
        ) async throws(ProviderFailure) -> ProvidedContent {
            ProvidedContent(.data(.inline(Array(item.utf8))), wasRetried: false)
        }
    }

    private static func session(
        _ names: [String], to path: String, limits: DeliveryLimits = DeliveryLimits()
    ) -> DragSession<Names> {
        let items = names.map { name in
            let record = ItemRecord(
                uniqueIdentifier: name, attributes: ["providerDataTypeIdentifiers": .array([.string("public.text")])])
            return DragSession<Names>.Item(
                name, resolution: PromiseResolution(record, accepted: ["public.text"]),
                target: .deliver(.file(path: path)))
        }
        return DragSession(Names(), items: items, options: DragOptions(delivery: DeliveryOptions(limits: limits)))
    }

    @Test("reach one reader one after the other, with the end after the last")
    func oneReader() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let received = Mutex<[UInt8]>([])
        let done = AsyncStream<Void>.makeStream()
        onThread {
            let reader = OwnedDescriptor(adopting: open(path, O_RDONLY | O_CLOEXEC))
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(reader.number, &buffer, buffer.count), count > 0 {
                received.withLock { $0 += buffer[..<count] }
            }
            done.continuation.finish()
        }
        let outcomes = await Self.session(["one", "two", "three"], to: path).drop()
        #expect(outcomes.allSatisfy { $0.fulfilment != nil })
        for await _ in done.stream {}
        #expect(String(decoding: received.withLock { $0 }, as: UTF8.self) == "onetwothree")
    }

    @Test("wait once for a reader that does not appear")
    func noReader() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("pipe")
        #expect(mkfifo(path, 0o600) == 0)
        let late = Mutex<OwnedDescriptor?>(nil)
        let limits = DeliveryLimits(opening: .milliseconds(50))
        let outcomes = await Self.session(["one", "two", "three"], to: path, limits: limits).drop { _, _ in
            // A drop that is requested now is too late. If the others had waited too, they would
            // have received it.
            late.withLock { late in
                late = late ?? OwnedDescriptor(adopting: open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC))
            }
        }
        #expect(outcomes.map { $0.failure?.kind } == [.timedOut, .timedOut, .timedOut])
        #expect(outcomes.last?.failure?.message.contains("No process opened \(path)") == true)
    }
}
