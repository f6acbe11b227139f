// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import Foundation
import ItemRecord
import ServiceMessages
import Synchronization
import TestSupport
import Testing

@testable import CoreSpotlight

/// Records the sent requests, and answers as the test requires.
final class RecordingTransport: IndexTransport {
    private let log = Mutex<[IndexRequest]>([])
    private let outcome: @Sendable (_ number: Int) -> CSIndexError?
    private let state: [UInt8]?

    init(state: [UInt8]? = nil, outcome: @escaping @Sendable (Int) -> CSIndexError? = { _ in nil }) {
        self.state = state
        self.outcome = outcome
    }

    var sent: [IndexRequest] { log.withLock { $0 } }

    func send(_ request: IndexRequest, completion: @escaping @Sendable (Outcome) -> Void) {
        let number = log.withLock { log in
            log.append(request)
            return log.count
        }
        completion(outcome(number).map { .failure($0) } ?? .success(state))
    }
}

@Suite("Index")
struct IndexTests {
    private func index(_ transport: RecordingTransport, name: String? = nil) -> CSSearchableIndex {
        CSSearchableIndex(name: name, sender: RequestSender(transport: transport))
    }

    private func items(_ identifiers: some Sequence<String>, text: String = "t") -> [CSSearchableItem] {
        identifiers.map { identifier in
            let set = CSSearchableItemAttributeSet()
            set.textContent = text
            return CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: set)
        }
    }

    private func identifiers(_ actions: [IndexRequest.Action]) throws -> [[String]] {
        try actions.map { action in
            guard case .put(let batch)? = action.change else { return [] }
            return try RecordBatch.split(batch).map { try ItemRecord(decoding: $0).uniqueIdentifier }
        }
    }

    @Test func requestsNobodyWaitsForArriveInOrder() async throws {
        let transport = RecordingTransport()
        let index = index(transport, name: "notes")
        // Calls without `await` are made in synchronous code. Otherwise the compiler chooses the
        // asynchronous form.
        func deleteEverything() {
            index.deleteAllSearchableItems()
            for number in 0..<100 { index.deleteSearchableItems(withIdentifiers: ["\(number)"]) }
        }
        deleteEverything()
        try await index.deleteSearchableItems(withDomainIdentifiers: ["d"])
        let expected =
            [.deleteAll] + (0..<100).map { .deleteItems(["\($0)"]) } + [EncodedChange.deleteDomains(["d"])]
        #expect(transport.sent.map(\.action) == expected.map { IndexRequest.Action.change($0) })
        #expect(transport.sent.allSatisfy { $0.index == "notes" })
    }

    @Test func itemsAreIndexedAsTheyWereWhenTheyWereHandedOver() async throws {
        let transport = RecordingTransport()
        let index = index(transport)
        let item = items(["1"], text: "before")[0]
        let key = try #require(
            CSCustomAttributeKey(
                keyName: "k", searchable: true, searchableByDefault: true, unique: false, multiValued: false))
        item.attributeSet.setValue("x" as NSString, forCustomKey: key)
        func handOver() { index.indexSearchableItems([item]) }
        handOver()
        item.attributeSet.textContent = "after"
        try await index.deleteAllSearchableItems()
        guard case .put(let batch)? = transport.sent.first?.change else { throw CSIndexError(.unknownError) }
        let record = try ItemRecord(decoding: RecordBatch.split(batch)[0])
        #expect(record.text("textContent") == "before")
        #expect(record.traits == ["k": [.searchable, .searchableByDefault]])
    }

    @Test func manyItemsAreCutAndCompleteOnce() async throws {
        let transport = RecordingTransport()
        let names = (0..<600).map { "item \($0)" }
        try await index(transport).indexSearchableItems(items(names))
        let parts = try identifiers(transport.sent.map(\.action))
        #expect(parts.map(\.count) == [256, 256, 88])
        #expect(parts.flatMap { $0 } == names)
    }

    @Test func randomItemsArriveWholeAndWithinTheLimits() async throws {
        let seed = MutationLoop.seed
        var random = SplitMix64(seed: seed)
        for _ in 0..<20 {
            let sizes = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                Int.random(in: 0...[10, 50_000, 700_000].randomElement(using: &random)!, using: &random)
            }
            let items = sizes.enumerated().map { number, size in
                self.items(["\(number)"], text: String(repeating: "x", count: size))[0]
            }
            let (requests, error) = IndexRequest.index(items)
            #expect(error == nil)
            #expect(
                try identifiers(requests.map { .change($0) }).flatMap { $0 } == sizes.indices.map { "\($0)" },
                "seed \(seed)")
            for case .put(let batch) in requests {
                let count = try RecordBatch.split(batch).count
                #expect(count == 1 || batch.count <= IndexRequest.maximumBytes + 4 * 256, "seed \(seed)")
            }
        }
    }

    @Test func itemsThatCannotBeIndexedFailTheCallAndSpareTheOthers() async throws {
        let transport = RecordingTransport()
        let mixed = items(["a", "", "n\u{0}l", String(repeating: "x", count: 4097), "b"])
        mixed[4].domainIdentifier = "fine"
        let error = await #expect(throws: CSIndexError.self) {
            try await self.index(transport).indexSearchableItems(mixed)
        }
        #expect(error?.code == .invalidItemError)
        #expect(try identifiers(transport.sent.map(\.action)) == [["a", "b"]])
    }

    @Test func domainsWithNULAreRefused() async {
        let item = items(["a"])[0]
        item.domainIdentifier = "d\u{0}"
        let (requests, error) = IndexRequest.index([item])
        #expect(requests.isEmpty && error?.code == .invalidItemError)
    }

    @Test func namesThatNoItemCanHaveAreNotSent() async throws {
        let transport = RecordingTransport()
        // If identifiers were C strings, the first would delete another item.
        try await index(transport).deleteSearchableItems(withIdentifiers: [
            "a\u{0}b", "c", String(repeating: "x", count: 4097),
        ])
        #expect(transport.sent.map(\.action) == [.change(.deleteItems(["c"]))])
    }

    @Test func renamesAreSentAtOnce() async throws {
        let transport = RecordingTransport()
        let index = index(transport)
        let many = Dictionary(uniqueKeysWithValues: (0..<2000).map { ("\($0)", "\($0 + 1)") })
        try await index.renameSearchableItems(many)
        try await index.renameSearchableItems([:])
        guard transport.sent.count == 1, case .renameItems(let renames)? = transport.sent.first?.change else {
            Issue.record("sent \(transport.sent.count)")
            return
        }
        #expect(Set(renames) == Set(many.map { ItemRename($0.key, to: $0.value) }) && renames.count == 2000)
        // No item can have this name.
        try await index.renameSearchableItems([
            "a\u{0}b": "c", "d": "d", String(repeating: "x", count: 4097): "e", "": "f",
        ])
        #expect(transport.sent.count == 1)
    }

    @Test(
        "Impossible renames rename nothing",
        arguments: [
            ["a": ""], ["a": "b\u{0}"], ["a": String(repeating: "x", count: 4097)], ["a": "c", "b": "c"],
            ["a": "a", "b": "a"],
        ])
    func badRenames(_ identifiers: [String: String]) async {
        let transport = RecordingTransport()
        let error = await #expect(throws: CSIndexError.self) {
            try await self.index(transport).renameSearchableItems(identifiers.merging(["good": "better"]) { $1 })
        }
        #expect(error?.code == .invalidItemError && transport.sent.isEmpty)
    }

    @Test func tooManyRenamesAreRefused() async {
        let transport = RecordingTransport()
        let many = Dictionary(uniqueKeysWithValues: (0..<(1 << 19)).map { ("\($0)", "n\($0)") })
        let error = await #expect(throws: CSIndexError.self) {
            try await self.index(transport).renameSearchableItems(many)
        }
        #expect(error?.code == .quotaExceeded && transport.sent.isEmpty)
    }

    @Test func theFirstErrorIsReportedAndTheRestIsNotSent() async {
        let transport = RecordingTransport { $0 == 2 ? CSIndexError(.quotaExceeded) : nil }
        let error = await #expect(throws: CSIndexError.self) {
            try await self.index(transport).indexSearchableItems(self.items((0..<2000).map(String.init)))
        }
        #expect(error?.code == .quotaExceeded)
        #expect(transport.sent.count == 2)
    }

    @Test func handlersGetTheOutcome() async {
        let failing = index(RecordingTransport { _ in CSIndexError(.unknownError) })
        let succeeding = index(RecordingTransport())
        let items = items(["a"])
        let failure = await withCheckedContinuation { done in
            failing.indexSearchableItems(items) { done.resume(returning: ($0 as? CSIndexError)?.code) }
        }
        #expect(failure == .unknownError)
        let success = await withCheckedContinuation { done in
            succeeding.indexSearchableItems([]) { done.resume(returning: $0 == nil) }
        }
        #expect(success)
    }

    @Test func handlersMayWaitForOneAnother() async {
        let index = index(RecordingTransport())
        await withCheckedContinuation { done in
            index.deleteAllSearchableItems { _ in
                let inner = DispatchSemaphore(value: 0)
                index.deleteAllSearchableItems { _ in inner.signal() }
                inner.wait()
                done.resume()
            }
        }
    }

    @Test(arguments: ["", "a\u{0}b", String(repeating: "n", count: 256)])
    func badIndexNamesAreRefused(_ name: String) async {
        let transport = RecordingTransport()
        let error = await #expect(throws: CSIndexError.self) {
            try await self.index(transport, name: name).deleteAllSearchableItems()
        }
        #expect(error?.code == .indexUnavailableError)
        #expect(transport.sent.isEmpty)
    }

    @Test func theDelegateIsNotRetained() {
        let index = CSSearchableIndex(name: "n")
        do {
            let delegate = CSIndexExtensionRequestHandler()
            index.indexDelegate = delegate
            #expect(index.indexDelegate === delegate)
        }
        #expect(index.indexDelegate == nil)
        #expect(CSSearchableIndex.default() === CSSearchableIndex.default())
    }

    @Test func callersThatDoNotAwaitAreHeldUpWhenTooMuchWaits() async {
        /// Counts the caller's unsent requests.
        final class LaggingTransport: IndexTransport {
            let returned = Atomic(0)
            let sent = Atomic(0)
            let furthest = Atomic(0)
            let started = DispatchSemaphore(value: 0)

            func send(_ request: IndexRequest, completion: @escaping @Sendable (Outcome) -> Void) {
                // The first request waits until the caller has had time to continue.
                if sent.load(ordering: .acquiring) == 0 { started.wait() }
                furthest.max(returned.load(ordering: .acquiring) - sent.load(ordering: .acquiring), ordering: .relaxed)
                sent.add(1, ordering: .releasing)
                completion(.success(nil))
            }
        }
        let transport = LaggingTransport()
        // Room for four requests, each with 20 bytes and 64 bytes of overhead.
        let sender = RequestSender(transport: transport, maximumWaitingBytes: 4 * 84)
        await withCheckedContinuation { done in
            DispatchQueue.global().async {
                for number in 0..<1000 {
                    if number == 3 { transport.started.signal() }
                    let last = number == 999
                    sender.submit([.change(.deleteItems(["1234"]))], holdsUp: true) { _ in
                        if last { done.resume() }
                    }
                    transport.returned.add(1, ordering: .releasing)
                }
            }
        }
        #expect(transport.sent.load(ordering: .acquiring) == 1000)
        #expect(transport.furthest.load(ordering: .acquiring) <= 4)
    }

    @Test func callersThatAwaitAreNotBlocked() async throws {
        let transport = RecordingTransport()
        let index = CSSearchableIndex(name: nil, sender: RequestSender(transport: transport, maximumWaitingBytes: 1))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { try await index.deleteSearchableItems(withIdentifiers: ["\(number)"]) }
            }
            try await group.waitForAll()
        }
        #expect(transport.sent.count == 50)
    }

    @Test("An item that exceeds a limit is named with the limit, and the others are indexed")
    func excessiveItems() throws {
        let long = String(repeating: "x", count: ItemLimit.identifierBytes.maximum + 1)
        func item(_ change: (CSSearchableItemAttributeSet) -> Void) -> CSSearchableItem {
            let set = CSSearchableItemAttributeSet()
            change(set)
            return CSSearchableItem(uniqueIdentifier: "too much", domainIdentifier: nil, attributeSet: set)
        }
        let excesses: [(ItemLimit, CSSearchableItem)] = [
            (.identifierBytes, CSSearchableItem(uniqueIdentifier: long, domainIdentifier: nil, attributeSet: .init())),
            (
                .domainBytes,
                CSSearchableItem(uniqueIdentifier: "too much", domainIdentifier: long, attributeSet: .init())
            ),
            (.recordBytes, item { $0.textContent = String(repeating: "x", count: ItemLimit.recordBytes.maximum) }),
            (.elements, item { $0.keywords = Array(repeating: "k", count: ItemLimit.elements.maximum + 1) }),
            (
                .attributes,
                item { set in
                    for number in 0...ItemLimit.attributes.maximum {
                        guard let key = CSCustomAttributeKey(keyName: "a\(number)") else { continue }
                        set.setValue(NSNumber(value: 1), forCustomKey: key)
                    }
                }
            ),
        ]
        for (limit, excess) in excesses {
            let (requests, error) = IndexRequest.index(items(["before"]) + [excess] + items(["after"]))
            #expect(try identifiers(requests.map { .change($0) }) == [["before", "after"]])
            #expect(error?.code == .invalidItemError)
            #expect(error?.localizedDescription.contains("the limit is \(limit.maximum).") == true, "\(limit)")
        }
    }
}
