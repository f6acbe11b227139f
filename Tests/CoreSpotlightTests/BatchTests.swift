// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import Foundation
import ItemRecord
import ServiceMessages
import Testing

@testable import CoreSpotlight

extension IndexTransport.Outcome {
    /// The code of the error; `nil` for success.
    var code: CSIndexError.Code? { if case .failure(let error) = self { error.code } else { nil } }
}

@Suite("Batches")
struct BatchTests {
    private let transport = RecordingTransport()

    private func index(_ name: String? = "notes", _ transport: RecordingTransport? = nil) -> CSSearchableIndex {
        CSSearchableIndex(name: name, sender: RequestSender(transport: transport ?? self.transport))
    }

    private func item(_ identifier: String, _ text: String = "t") -> CSSearchableItem {
        let set = CSSearchableItemAttributeSet()
        set.textContent = text
        return CSSearchableItem(uniqueIdentifier: identifier, domainIdentifier: nil, attributeSet: set)
    }

    private func code(_ body: () async throws -> Void) async -> CSIndexError.Code? {
        do { try await body() } catch { return (error as? CSIndexError)?.code ?? .unknownError }
        return nil
    }

    @Test func nothingIsSentBeforeTheEndAndThenEverythingAtOnceInOrder() async throws {
        let index = index()
        index.beginBatch()
        try await index.deleteAllSearchableItems()
        try await index.indexSearchableItems([item("a")])
        try await index.deleteSearchableItems(withIdentifiers: ["b"])
        try await index.deleteSearchableItems(withDomainIdentifiers: ["d"])
        try await index.renameSearchableItems(["a": "e"])
        #expect(transport.sent.isEmpty)
        try await index.endBatch(withClientState: Data([1, 2]))
        guard let sent = transport.sent.first?.batch, sent.clientState == [1, 2], sent.expectation == .any else {
            Issue.record("sent \(transport.sent)")
            return
        }
        #expect(transport.sent.count == 1 && transport.sent[0].index == "notes")
        let changes = sent.changes.all
        guard case .put(let batch) = changes[1] else { throw CSIndexError(.unknownError) }
        #expect(try RecordBatch.split(batch).map { try ItemRecord(decoding: $0).uniqueIdentifier } == ["a"])
        let rename = EncodedChange.renameItems([ItemRename("a", to: "e")])
        #expect(changes == [.deleteAll, .put(batch), .deleteItems(["b"]), .deleteDomains(["d"]), rename])
        // Later calls are sent immediately.
        try await index.deleteAllSearchableItems()
        #expect(transport.sent.map(\.action).last == .change(.deleteAll))
    }

    @Test func theExpectedStateGoesWithTheBatch() async throws {
        let index = index()
        for expected in [nil, Data(), Data([7])] {
            index.beginBatch()
            try await index.endIndexBatch(expectedClientState: expected, newClientState: Data())
        }
        let states: [[UInt8]?] = [nil, [], [7]]
        let commits = states.map {
            IndexRequest.Action.commitBatch(changes: [], clientState: [], expecting: .exactly($0))
        }
        #expect(transport.sent.map(\.action) == commits)
    }

    @Test func theNextBatchMayBeginBeforeTheEndOfTheLastIsKnown() async throws {
        let index = index()
        func twoBatches(_ done: @escaping @Sendable () -> Void) {
            index.beginBatch()
            index.deleteSearchableItems(withIdentifiers: ["a"])
            index.endBatch(withClientState: Data([1]))
            index.beginBatch()
            index.deleteSearchableItems(withIdentifiers: ["b"])
            index.endBatch(withClientState: Data([2])) { _ in done() }
        }
        await withCheckedContinuation { done in twoBatches { done.resume() } }
        let states: [[UInt8]] = transport.sent.compactMap {
            $0.batch.map { $0.changes.bytes + ($0.clientState ?? []) }
        }
        #expect(states == [[2, 1, 1, UInt8(ascii: "a"), 1], [2, 1, 1, UInt8(ascii: "b"), 2]])
    }

    @Test func beginningTwiceKeepsWhatIsThere() async throws {
        let index = index()
        index.beginBatch()
        try await index.deleteAllSearchableItems()
        index.beginBatch()
        try await index.endBatch(withClientState: Data())
        #expect(transport.sent.map(\.action) == [.commitBatch(changes: [4], clientState: [], expecting: .any)])
    }

    @Test func endingWithoutABatchFailsAndStoresNothing() async {
        let index = index()
        let error = await #expect(throws: CSIndexError.self) { try await index.endBatch(withClientState: Data()) }
        #expect(error?.code == .unknownError)
        #expect(error?.localizedDescription.contains("beginBatch") == true)
        #expect(transport.sent.isEmpty)
    }

    @Test func theDefaultIndexHasNoBatches() async throws {
        let index = index(nil)
        index.beginBatch()
        try await index.deleteAllSearchableItems()
        #expect(transport.sent.map(\.action) == [.change(.deleteAll)])
        #expect(await code { try await index.endBatch(withClientState: Data()) } == .indexingUnsupported)
        #expect(
            await code { try await index.endIndexBatch(expectedClientState: nil, newClientState: Data()) }
                == .indexingUnsupported)
        #expect(await code { _ = try await index.fetchLastClientState() } == .indexingUnsupported)
    }

    @Test func aStateThatIsTooLongLeavesTheBatchOpen() async throws {
        let index = index()
        index.beginBatch()
        try await index.deleteAllSearchableItems()
        #expect(await code { try await index.endBatch(withClientState: Data(count: 251)) } == .invalidClientStateError)
        #expect(
            await code {
                try await index.endIndexBatch(expectedClientState: Data(count: 251), newClientState: Data())
            } == .invalidClientStateError)
        #expect(transport.sent.isEmpty)
        try await index.endBatch(withClientState: Data(count: 250))
        let state = [UInt8](repeating: 0, count: 250)
        #expect(transport.sent.map(\.action) == [.commitBatch(changes: [4], clientState: state, expecting: .any)])
    }

    @Test func aCallThatIsTooMuchForTheBatchFailsAndTheBatchGoesOn() async throws {
        let index = index()
        let large = item("large", String(repeating: "x", count: 15 << 20))
        index.beginBatch()
        try await index.indexSearchableItems([large])
        try await index.indexSearchableItems([large])
        let error = await #expect(throws: CSIndexError.self) { try await index.indexSearchableItems([large]) }
        #expect(error?.code == .quotaExceeded)
        #expect(error?.localizedDescription.contains("\(ChangeList.maximumBatchBytes)") == true)
        try await index.deleteSearchableItems(withIdentifiers: ["small"])
        try await index.endBatch(withClientState: Data(count: 250))
        let request = try #require(transport.sent.first)
        #expect(request.byteCount <= ChangeList.maximumBytes)
        #expect(request.batch?.changes.all.count == 3)
    }

    @Test func aBatchOfTooManyNamesIsRefused() throws {
        var batch = ChangeList()
        let names = Array(repeating: "n", count: 256)
        var accepted = 0
        while (try? batch.stage([.deleteItems(names)])) != nil { accepted += 1 }
        #expect(accepted == ChangeList.maximumChanges / 257)
        #expect(try ChangeList.changes(in: batch.bytes).count == accepted)
    }

    @Test func itemsThatCannotBeIndexedFailTheCallInABatchToo() async throws {
        let index = index()
        index.beginBatch()
        #expect(await code { try await index.indexSearchableItems([item(""), item("b")]) } == .invalidItemError)
        try await index.endBatch(withClientState: Data())
        #expect(transport.sent.first?.batch?.changes.all.count == 1)
    }

    @Test func theClientStateTellsEmptyFromNone() async throws {
        for state in [nil, [], [1, 2]] as [[UInt8]?] {
            let index = index("n", RecordingTransport(state: state))
            let fetched = await withCheckedContinuation { done in
                index.fetchLastClientState { data, error in done.resume(returning: (data, error == nil)) }
            }
            #expect(fetched.0.map(Array.init) == state && fetched.1)
            #expect(try await Array(index.fetchLastClientState()) == state ?? [])
        }
    }

    @Test func errorsOfTheEndReachTheCallerAndTheBatchIsOver() async {
        let index = index("n", RecordingTransport { _ in CSIndexError(.mismatchedClientState) })
        index.beginBatch()
        #expect(
            await code { try await index.endIndexBatch(expectedClientState: nil, newClientState: Data()) }
                == .mismatchedClientState)
        #expect(await code { try await index.endBatch(withClientState: Data()) } == .unknownError)
        #expect(await code { _ = try await index.fetchLastClientState() } == .mismatchedClientState)
    }

    @Test func handlersAreCalledOnTheLibrarysQueue() async {
        let index = index()
        // Stops the test if the condition does not hold.
        @Sendable func check() { dispatchPrecondition(condition: .onQueue(HandlerQueue.shared)) }
        let isMain: [Bool] = await withCheckedContinuation { done in
            index.fetchLastClientState { _, _ in
                check()
                let first = Thread.isMainThread
                index.deleteAllSearchableItems { _ in
                    check()
                    done.resume(returning: [first, Thread.isMainThread])
                }
            }
        }
        #expect(isMain == [false, false])
    }
}
