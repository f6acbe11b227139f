// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import Promises

/// Fulfils promises as configured by a test.
private final class FakeProvider: PromiseProvider {
    typealias Answer = @Sendable (String, _ attempt: Int) async throws -> ProvidedContent

    private let answer: Answer
    private let asked = Mutex<[(item: String, promise: Representation, mayRetry: Bool)]>([])
    private let warmed = Mutex<[String]>([])
    private let onCancel: @Sendable () -> Void
    let cancelled = Mutex(0)

    init(onCancel: @escaping @Sendable () -> Void = {}, _ answer: @escaping Answer) {
        self.answer = answer
        self.onCancel = onCancel
    }

    var requests: [(item: String, promise: Representation, mayRetry: Bool)] { asked.withLock { $0 } }
    var prewarmed: [String] { warmed.withLock { $0 } }

    func prewarm(_ items: [String]) async { warmed.withLock { $0 += items } }

    func fulfil(
        _ promise: Representation, of item: String, mayRetry: Bool,
        onProgress: @escaping @Sendable (ProviderProgress) -> Void
    ) async throws(ProviderFailure) -> ProvidedContent {
        let attempt = asked.withLock { asked in
            asked.append((item, promise, mayRetry))
            return asked.count
        }
        do {
            return try await withTaskCancellationHandler {
                try await answer(item, attempt)
            } onCancel: {
                cancelled.withLock { $0 += 1 }
                onCancel()
            }
        } catch let failure as ProviderFailure {
            throw failure
        } catch {
            throw ProviderFailure(.failed, "\(error)", cause: error)
        }
    }
}

@Suite("A drag", .timeLimit(.minutes(10)))
struct DragSessionTests {
    private typealias Session = DragSession<FakeProvider>

    private static func record(_ name: String, types: [String] = ["public.html"]) -> ItemRecord {
        ItemRecord(
            uniqueIdentifier: name,
            attributes: ["providerDataTypeIdentifiers": .array(types.map(AttributeValue.string))])
    }

    private static func item(
        _ name: String, accepted: String = "public.html", to destination: Destination
    ) -> Session.Item {
        Session.Item(
            name, resolution: PromiseResolution(record(name), accepted: [accepted]), target: .deliver(destination))
    }

    private static func bytes(_ text: String, wasRetried: Bool = false) -> ProvidedContent {
        ProvidedContent(.data(.inline(Array(text.utf8))), wasRetried: wasRetried)
    }

    /// Returns a stream that ends before its announced length, as after a worker crash.
    private static func broken(wasRetried: Bool = false) throws -> ProvidedContent {
        ProvidedContent(.data(.stream(try Pipe.holding([1]), length: 3)), wasRetried: wasRetried)
    }

    @Test("drops several items one after the other, and a failed one stops none")
    func several() async throws {
        let folder = try TemporaryFolder()
        let provider = FakeProvider { item, _ in
            guard item != "b" else { throw ProviderFailure(.refused, "not b", cause: CancellationError()) }
            return Self.bytes(item)
        }
        let told = Mutex<[DragProgress]>([])
        let items = [
            Self.item("a", to: .file(path: folder.path("a"))), Self.item("b", to: .file(path: folder.path("b"))),
            Self.item("c", accepted: "public.image", to: .file(path: folder.path("c"))),
            Self.item("dd", to: .file(path: folder.path("d"))),
        ]
        let session = Session(provider, items: items) { progress in told.withLock { $0.append(progress) } }
        await session.prewarm()
        #expect(provider.prewarmed == ["a", "b", "dd"])
        let outcomes = await session.drop()
        #expect(outcomes.map { $0.failure?.kind } == [nil, .refused, .unsupportedType, nil])
        #expect(try folder.names == ["a", "d"])
        #expect(provider.requests.map(\.item) == ["a", "b", "dd"])
        let last = try #require(told.withLock { $0.last })
        #expect(last.endedItems == 4 && last.bytes == 3 && last.expectedBytes == 3)
    }

    @Test("asks once more for bytes that broke off, and not a third time")
    func retry() async throws {
        let folder = try TemporaryFolder()
        let once = FakeProvider { _, attempt in attempt == 1 ? try Self.broken() : Self.bytes("whole") }
        let whole = await Session(once, items: [Self.item("a", to: .file(path: folder.path("a")))]).drop()
        #expect(whole.first?.fulfilment?.bytes == 5)
        #expect(once.requests.map(\.mayRetry) == [true, false])

        let always = FakeProvider { _, _ in try Self.broken() }
        let none = await Session(always, items: [Self.item("b", to: .file(path: folder.path("b")))]).drop()
        #expect(none.first?.failure?.kind == .crashed)
        #expect(always.requests.count == 2)
        #expect(try folder.names == ["a"])
    }

    @Test("does not ask again if the provider already has, nor for a stream that is partly written")
    func noRetry() async throws {
        let folder = try TemporaryFolder()
        let tried = FakeProvider { _, _ in try Self.broken(wasRetried: true) }
        let outcomes = await Session(tried, items: [Self.item("a", to: .file(path: folder.path("a")))]).drop()
        #expect(outcomes.first?.failure?.kind == .crashed)
        #expect(tried.requests.count == 1)

        let (output, input) = try Pipe.ends()
        defer { input.end() }
        let streamed = FakeProvider { _, _ in try Self.broken() }
        let part = await Session(streamed, items: [Self.item("a", to: .stream(descriptor: input.number))]).drop()
        #expect(part.first?.failure?.kind == .crashed)
        #expect(streamed.requests.count == 1)
        withExtendedLifetime(output) {}
    }

    @Test("is cancelled while the provider works, which is notified; later items are not requested")
    func cancelAsking() async throws {
        let folder = try TemporaryFolder()
        let reins = Mutex<Session?>(nil)
        let provider = FakeProvider { _, _ in
            reins.withLock { $0 }?.cancel()
            try await Task.sleep(for: .seconds(3600))
            return Self.bytes("late")
        }
        let session = Session(
            provider,
            items: [
                Self.item("a", to: .file(path: folder.path("a"))), Self.item("b", to: .file(path: folder.path("b"))),
            ])
        reins.withLock { $0 = session }
        let outcomes = await session.drop()
        reins.withLock { $0 = nil }
        #expect(outcomes.map { $0.failure?.kind } == [.cancelled, .cancelled])
        #expect(provider.requests.count == 1)
        #expect(provider.cancelled.withLock { $0 } == 1)
        #expect(try folder.names.isEmpty)
    }

    @Test("has cancelled later items before the current provider is notified")
    func cancelOrder() async throws {
        let folder = try TemporaryFolder()
        let reins = Mutex<Session?>(nil)
        let behind = Mutex<[Bool]>([])
        let (asked, began) = AsyncStream<Void>.makeStream()
        let provider = FakeProvider {
            behind.withLock { $0 = reins.withLock { $0 }?.controls.dropFirst().map(\.isCancelled) ?? [] }
        } _: { _, _ in
            began.finish()
            try await Task.sleep(for: .seconds(3600))
            return Self.bytes("late")
        }
        let session = Session(provider, items: ["a", "b", "c"].map { Self.item($0, to: .file(path: folder.path($0))) })
        reins.withLock { $0 = session }
        async let outcomes = session.drop()
        for await _ in asked {}
        session.cancel()
        #expect(await outcomes.map { $0.failure?.kind } == [.cancelled, .cancelled, .cancelled])
        reins.withLock { $0 = nil }
        #expect(provider.requests.map(\.item) == ["a"])
        #expect(behind.withLock { $0 } == [true, true])
    }

    @Test("is cancelled during the transfer of bytes; the other items continue")
    func cancelDelivery() async throws {
        let folder = try TemporaryFolder()
        let (output, input) = try Pipe.ends()
        defer { input.end() }
        let reins = Mutex<Session?>(nil)
        let provider = FakeProvider { item, _ in
            item == "a" ? ProvidedContent(.data(.stream(output, length: 3)), wasRetried: false) : Self.bytes("b")
        }
        let session = Session(
            provider,
            items: [
                Self.item("a", to: .file(path: folder.path("a"))), Self.item("b", to: .file(path: folder.path("b"))),
            ]
        ) { progress in
            // The delivery is waiting for expected bytes.
            if progress.expectedBytes == 3 { reins.withLock { $0 }?.cancel(item: 0) }
        }
        reins.withLock { $0 = session }
        let outcomes = await session.drop()
        reins.withLock { $0 = nil }
        #expect(outcomes.map { $0.failure?.kind } == [.cancelled, nil])
        #expect(try folder.names == ["b"])
    }

    @Test("is cancelled with its task, even before its start")
    func cancelledTask() async throws {
        let folder = try TemporaryFolder()
        let provider = FakeProvider { _, _ in Self.bytes("x") }
        let task = Task {
            try? await Task.sleep(for: .seconds(3600))
            return await Session(provider, items: [Self.item("a", to: .file(path: folder.path("a")))]).drop()
        }
        task.cancel()
        #expect(await task.value.first?.failure?.kind == .cancelled)
        #expect(provider.requests.isEmpty)
    }

    @Test("waits for a provider up to the limit, and then notifies it")
    func deadline() async throws {
        let folder = try TemporaryFolder()
        let provider = FakeProvider { _, _ in
            try await Task.sleep(for: .seconds(3600))
            return Self.bytes("late")
        }
        let outcomes = await Session(
            provider, items: [Self.item("a", to: .file(path: folder.path("a")))],
            options: DragOptions(answerLimit: .milliseconds(1))
        ).drop()
        #expect(outcomes.first?.failure?.kind == .timedOut)
        #expect(provider.cancelled.withLock { $0 } == 1)
    }

    @Test("asks for consent beyond the limit, for all items together, and once")
    func consent() async throws {
        let folder = try TemporaryFolder()
        let provider = FakeProvider { _, _ in Self.bytes("four") }
        let asked = Mutex<[UInt64]>([])
        func drop(answer: DragFailure?) async -> [DragOutcome] {
            let items = (0..<4).map { Self.item("\($0)", to: .file(path: folder.path("\($0)"))) }
            let options = DragOptions(consentLimit: 8) { bytes, _ in
                asked.withLock { $0.append(bytes) }
                return answer
            }
            return await Session(provider, items: items, options: options).drop()
        }
        let refused = await drop(answer: DragFailure(.refused, "too much"))
        #expect(refused.map { $0.failure?.kind } == [nil, nil, .refused, .refused])
        #expect(try folder.names == ["0", "1"])
        asked.withLock { $0 = [] }
        #expect(await drop(answer: nil).allSatisfy { $0.failure == nil })
        #expect(asked.withLock { $0 } == [12])
    }

    @Test("of an original in place reports its path, and copies nothing")
    func inPlace() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write([1, 2, 3], to: "original")
        let record = ItemRecord(
            uniqueIdentifier: "a", attributes: ["providerInPlaceFileTypeIdentifiers": .array([.string("public.data")])])
        func drop(
            wantsDigest: Bool = false, _ content: @escaping @Sendable () throws -> PromisedContent
        ) async -> DragOutcome? {
            let item = Session.Item(
                "a", resolution: PromiseResolution(record, accepted: ["public.data"], forms: [.inPlaceFile]),
                target: .inPlace)
            let provider = FakeProvider { _, _ in ProvidedContent(try content(), wasRetried: false) }
            let options = DragOptions(delivery: DeliveryOptions(wantsDigest: wantsDigest))
            return await Session(provider, items: [item], options: options).drop().first
        }
        let found = await drop(wantsDigest: true) { .file(try FileReply(opening: path)) }
        #expect(found?.fulfilment?.digest?.first == 0x03)
        #expect(found?.fulfilment?.digest?.last == 0x81)
        #expect(found?.fulfilment?.path == path)
        #expect(found?.fulfilment?.bytes == 3)
        #expect(found?.fulfilment?.isWritable == true)
        #expect(try folder.names == ["original"])
        // A deleted file, or an object that is not a regular file, has no path.
        let gone = await drop {
            let reply = try FileReply(opening: try folder.write([1], to: "gone"))
            unlink(folder.path("gone"))
            return .file(reply)
        }
        #expect(gone?.failure?.kind == .inputOutput)
        #expect(await drop { .data(.inline([1])) }?.failure?.kind == .inputOutput)
    }
}
