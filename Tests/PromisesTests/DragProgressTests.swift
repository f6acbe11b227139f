// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Promises
import Synchronization
import TestSupport
import Testing

@Suite("The progress of a drag", .timeLimit(.minutes(10)))
struct DragProgressTests {
    /// Reports some progress before it answers, and once more afterwards.
    private final class Reporter: PromiseProvider {
        private let late = Mutex<[@Sendable (ProviderProgress) -> Void]>([])

        func prewarm(_ items: [String]) async {}
        func fulfil(
            _ promise: Representation, of item: String, mayRetry: Bool,
            onProgress: @escaping @Sendable (ProviderProgress) -> Void
        ) async throws(ProviderFailure) -> ProvidedContent {
            for before in late.withLock({ $0 }) { before(ProviderProgress(completed: 9, total: 9)) }
            late.withLock { $0 = [onProgress] }
            if item == "watched" { onProgress(ProviderProgress(completed: 1, total: 4)) }
            return ProvidedContent(.data(.inline([1, 2, 3])), wasRetried: false)
        }
        func tellLate() { for told in late.withLock({ $0 }) { told(ProviderProgress(completed: 9, total: 9)) } }
    }

    @Test(
        "never exceeds the extension's total",
        arguments: [(1, 4, 25), (9, 3, 100), (.max, 1, 100)] as [(UInt64, UInt64, Int)])
    func bounded(completed: UInt64, total: UInt64, percentage: Int) {
        #expect(ProviderProgress(completed: completed, total: total).percentage == percentage)
        #expect(ProviderProgress(completed: completed).percentage == nil)
    }

    @Test("is the provider's until it has answered, and the bytes' after that")
    func phases() async throws {
        let folder = try TemporaryFolder()
        let record = ItemRecord(
            uniqueIdentifier: "watched", attributes: ["providerDataTypeIdentifiers": .array([.string("public.text")])])
        let told = Mutex<[DragProgress]>([])
        let provider = Reporter()
        let session = DragSession(
            provider,
            items: [
                .init(
                    "watched", resolution: PromiseResolution(record, accepted: ["public.text"]),
                    target: .deliver(.file(path: folder.path("out"))))
            ]
        ) { progress in told.withLock { $0.append(progress) } }
        _ = await session.drop()
        let preparing = told.withLock { $0.map(\.preparing) }
        #expect(preparing.prefix(3) == [ProviderProgress(), ProviderProgress(completed: 1, total: 4), nil])
        #expect(preparing.dropFirst(2).allSatisfy { $0 == nil })
        // A report that arrives too late has no effect.
        provider.tellLate()
        let last = try #require(told.withLock { $0.last })
        #expect(last.preparing == nil && last.endedItems == 1 && last.bytes == 3)
    }

    @Test("is empty for the next item until its provider reports progress")
    func nextItem() async throws {
        let folder = try TemporaryFolder()
        let record = ItemRecord(
            uniqueIdentifier: "a", attributes: ["providerDataTypeIdentifiers": .array([.string("public.text")])])
        let told = Mutex<[DragProgress]>([])
        let resolution = PromiseResolution(record, accepted: ["public.text"])
        let items = ["watched", "silent"].map {
            DragSession<Reporter>.Item(
                $0, resolution: resolution, target: .deliver(.file(path: folder.path($0))))
        }
        _ = await DragSession(Reporter(), items: items) { progress in told.withLock { $0.append(progress) } }.drop()
        let second = told.withLock { $0.filter { $0.endedItems == 1 }.compactMap(\.preparing) }
        #expect(second.allSatisfy { $0 == ProviderProgress() } && !second.isEmpty)
    }
}
