// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CoreSpotlight
@testable import PortedSources
@testable import PortedSourcesInSwift6

@Suite("Search query")
struct SearchQueryTests {
    private func query(
        _ transport: FakeQueryTransport, _ text: String = "title == \"*\"", _ attributes: [String] = ["title"]
    ) -> CSSearchQuery {
        transport.make { CSSearchQuery(queryString: text, attributes: attributes) }
    }

    private func identifiers(_ results: CSSearchQuery.Results) async throws -> [String] {
        var found: [String] = []
        for try await result in results { found.append(result.id) }
        return found
    }

    // MARK: Sequences

    @Test func readingResultsStartsTheQuery() async {
        let transport = FakeQueryTransport([.items(["a"])])
        let query = query(transport)
        #expect(transport.pages.isEmpty)
        _ = query.results
        await transport.firstPageAsked()
        #expect(transport.pages.map(\.text) == ["title == \"*\""])
        #expect(transport.pages.first?.kind == .query)
    }

    @Test func resultsComeFromAllPagesInOrder() async throws {
        let transport = FakeQueryTransport([.items(["a", "b"]), .items([]), .items(["c"])])
        let found = try await identifiers(query(transport).results)
        #expect(found == ["id-a", "id-b", "id-c"])
        #expect(transport.pages.map(\.cursor) == [[], [1], [2]])
        #expect(Set(transport.numbers).count == 3)
        #expect(transport.cancelled.isEmpty)
    }

    @Test func theNextPageIsAskedForOnlyWhenItIsRead() async throws {
        let transport = FakeQueryTransport([.items(["a", "b"]), .items(["c"])])
        var iterator = query(transport).results.makeAsyncIterator()
        _ = try await iterator.next()
        _ = try await iterator.next()
        #expect(transport.pages.count == 1)
    }

    @Test func contextIsSentAsItWasWhenTheQueryWasMade() async throws {
        let transport = FakeQueryTransport([.items(["a"])])
        let context = CSSearchQueryContext()
        context.fetchAttributes = ["title", "no such attribute"]
        context.filterQueries = ["kind == \"x\""]
        let query = transport.make { CSSearchQuery(queryString: "q", queryContext: context) }
        context.filterQueries = []
        _ = try await identifiers(query.results)
        let request = try #require(transport.pages.first)
        #expect(request.attributes == ["title", "no such attribute"])
        #expect(request.filters == ["kind == \"x\""])
        #expect(request.limit == ResultPagePlan.pageSize)
    }

    @Test func onlyFetchedAttributesCanBeRead() async throws {
        let transport = FakeQueryTransport([.items(["a"])])
        for try await result in query(transport).results {
            #expect(result.item.attributeSet.title == "a")
            #expect(result.item.attributeSet.comment == nil)
            #expect(result.item.domainIdentifier == "d")
        }
        for try await result in query(transport, "q", []).results { #expect(result.item.attributeSet.title == nil) }
    }

    @Test func sortingByRankRestoresTheOrderOfTheIndex() async throws {
        let transport = FakeQueryTransport([.items(["a", "b"]), .items(["c"])])
        var found: [CSSearchQuery.Results.Item] = []
        for try await result in query(transport).results { found.append(result) }
        #expect(found.reversed().sorted().map(\.id) == ["id-a", "id-b", "id-c"])
        #expect(found[0] < found[2] && found[2] > found[0] && found[0] == found[0])
        #expect(
            found.map(\.item).reversed().sorted { $0.compare(byRank: $1) == .orderedAscending }.map(\.uniqueIdentifier)
                == ["id-a", "id-b", "id-c"])
    }

    @Test func leavingTheLoopCancelsTheQuery() async throws {
        let transport = FakeQueryTransport([.items(["a", "b"]), .silence])
        let query = query(transport)
        for try await _ in query.results { break }
        #expect(query.isCancelled)
        #expect(transport.pages.count == 1)
    }

    @Test func readingToTheEndDoesNotCancel() async throws {
        let query = query(FakeQueryTransport([.items(["a"])]))
        _ = try await identifiers(query.results)
        query.cancel()
        #expect(!query.isCancelled)
    }

    @Test func cancellingTheTaskCancelsTheQueryAndTheCallUnderWay() async throws {
        let transport = FakeQueryTransport([.silence])
        let query = query(transport)
        let task = Task { try await identifiers(query.results) }
        await transport.firstPageAsked()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(query.isCancelled)
        #expect(transport.cancelled == Set(transport.numbers))
    }

    @Test func cancelEndsALoopThatWaits() async throws {
        let transport = FakeQueryTransport([.silence])
        let query = query(transport)
        async let found = identifiers(query.results)
        await transport.firstPageAsked()
        query.cancel()
        do {
            _ = try await found
            Issue.record("The loop ended without an error.")
        } catch CSSearchQueryError.cancelled {}
        #expect(transport.cancelled == Set(transport.numbers))
    }

    @Test func aQueryRunsOnce() async throws {
        let transport = FakeQueryTransport([.items(["a"])])
        let query = query(transport)
        let log = HandlerLog(query)
        let results = query.results
        query.start()
        _ = try await identifiers(results)
        await #expect(throws: CSSearchQueryError.self) { try await identifiers(results) }
        await #expect(throws: CSSearchQueryError.self) { try await identifiers(query.results) }
        #expect(transport.pages.count == 1)
        #expect(!log.overlapped)
    }

    @Test func resultsOfAQueryWithHandlersCannotBeIterated() async throws {
        let query = query(FakeQueryTransport([.items(["a"])]))
        let log = HandlerLog(query)
        query.start()
        await #expect(throws: CSSearchQueryError.self) { try await identifiers(query.results) }
        let calls = await log.calls
        #expect(calls == [.items(["id-a"], count: 1), .end(nil)])
    }

    // MARK: Handlers

    @Test func handlersAreGivenEachItemOnceAndTheEndOnce() async {
        let query = query(FakeQueryTransport([.items(["a", "b"]), .items(["c"])]))
        let log = HandlerLog(query)
        query.start()
        query.start()
        let calls = await log.calls
        #expect(calls == [.items(["id-a", "id-b"], count: 2), .items(["id-c"], count: 3), .end(nil)])
        #expect(!log.overlapped && query.foundItemCount == 3 && !query.isCancelled)
        #expect(query.foundItemsHandler == nil && query.completionHandler == nil)
    }

    @Test func withoutAHandlerTheItemsAreCounted() async {
        let query = query(FakeQueryTransport([.items(["a", "b"]), .items(["c"])]))
        await withCheckedContinuation { continuation in
            query.completionHandler = { _ in continuation.resume() }
            query.start()
        }
        #expect(query.foundItemCount == 3)
    }

    @Test func handlersRunOffTheMainThread() async {
        let query = query(FakeQueryTransport([.items(["a"])]))
        let areMain = await withCheckedContinuation { continuation in
            nonisolated(unsafe) var threads: [Bool] = []
            query.foundItemsHandler = { _ in threads.append(Thread.isMainThread) }
            query.completionHandler = { _ in continuation.resume(returning: threads + [Thread.isMainThread]) }
            query.start()
        }
        #expect(areMain == [false, false])
    }

    /// A model of an app's view.
    @MainActor private final class ResultList {
        var rows: [String] = []
        var calls = 0
    }

    @Test @MainActor func handlersThatWereMadeOnTheMainActorAreCalledThere() async {
        let query = query(FakeQueryTransport([.items(["a"]), .items(["b"])]))
        let list = ResultList()
        await withCheckedContinuation { continuation in
            query.foundItemsHandler = { items in
                MainActor.assertIsolated()
                list.rows += items.map(\.uniqueIdentifier)
            }
            query.completionHandler = { error in
                list.rows.append(error == nil ? "end" : "error")
                continuation.resume()
            }
            query.start()
        }
        #expect(list.rows == ["id-a", "id-b", "end"])
    }

    @Test @MainActor func noItemsComeAfterACancelOnTheMainActor() async {
        for _ in 0..<20 {
            let query = query(FakeQueryTransport((0..<5).map { .items(["\($0)"]) }))
            let list = ResultList()
            let last = await withCheckedContinuation { continuation in
                query.foundItemsHandler = { _ in list.calls += 1 }
                query.completionHandler = { _ in continuation.resume(returning: list.calls) }
                query.start()
                Task {
                    query.cancel()
                    let given = list.calls
                    for _ in 0..<5 { await Task.yield() }
                    #expect(list.calls == given)
                }
            }
            #expect(query.isCancelled ? last < 6 : last == 5)
        }
    }

    @Test @MainActor func sourceOfBothLanguageModesIsCalledOnTheMainActor() async {
        let five = query(FakeQueryTransport([.items(["a", "b"]), .items(["c"])]))
        let old = PortedSources.MainActorSearch()
        await withCheckedContinuation { continuation in old.search(five) { continuation.resume() } }
        #expect(old.found == ["id-a", "id-b", "id-c"] && old.error == nil)
        let six = query(FakeQueryTransport([.items(["a", "b"]), .items(["c"])]))
        let new = PortedSourcesInSwift6.MainActorSearch()
        await withCheckedContinuation { continuation in new.search(six) { continuation.resume() } }
        #expect(new.found == old.found && new.error == nil)
    }

    @Test func sequencesCountWhatTheyGave() async throws {
        let query = query(FakeQueryTransport([.items(["a", "b"]), .items([]), .items(["c"])]))
        var iterator = query.results.makeAsyncIterator()
        #expect(query.foundItemCount == 0)
        _ = try await iterator.next()
        #expect(query.foundItemCount == 2)
        while try await iterator.next() != nil {}
        #expect(query.foundItemCount == 3)
    }

    @Test func aQueryNobodyKeepsStillEnds() async {
        let transport = FakeQueryTransport([.items(["a"]), .items(["b"])])
        let count = await withCheckedContinuation { continuation in
            let query = query(transport)
            nonisolated(unsafe) var count = 0
            query.foundItemsHandler = { count += $0.count }
            query.completionHandler = { _ in continuation.resume(returning: count) }
            query.start()
        }
        #expect(count == 2)
    }

    @Test(arguments: 1...4)
    func noItemsComeAfterACancelInTheHandler(at call: Int) async {
        let pages = (0..<5).map { FakeQueryTransport.Step.items(["\($0)"]) }
        let query = query(FakeQueryTransport(pages))
        let log = HandlerLog(query) { number in if number == call { query.cancel() } }
        query.start()
        let calls = await log.calls
        let given = (0..<call).map { HandlerLog.Call.items(["id-\($0)"], count: $0 + 1) }
        #expect(calls == given + [.end(.cancelled)])
        #expect(query.isCancelled && query.foundItemCount == call)
    }

    @Test func cancelBeforeTheStartEndsItAtOnce() async {
        let transport = FakeQueryTransport([.items(["a"])])
        let query = query(transport)
        query.cancel()
        let log = HandlerLog(query)
        query.start()
        let calls = await log.calls
        #expect(calls == [.end(.cancelled)])
        #expect(transport.pages.isEmpty)
    }

    @Test func cancelEndsAQueryWhoseServiceIsSilent() async {
        let transport = FakeQueryTransport([.items(["a"]), .silence])
        let query = query(transport)
        let log = HandlerLog(query)
        query.start()
        await transport.firstPageAsked()
        query.cancel()
        query.cancel()
        let calls = await log.calls
        #expect(calls.last == .end(.cancelled))
        #expect(calls.count <= 2)
    }

    @Test func cancelAfterTheEndChangesNothing() async {
        let query = query(FakeQueryTransport([.items(["a"])]))
        let log = HandlerLog(query)
        query.start()
        _ = await log.calls
        query.cancel()
        let calls = await log.calls
        #expect(calls == [.items(["id-a"], count: 1), .end(nil)])
        #expect(!query.isCancelled)
    }

    @Test func cancellationsFromOtherThreadsLeaveExactlyOneEnd() async {
        for round in 0..<200 {
            let query = query(FakeQueryTransport((0..<4).map { .items(["\($0)"]) }))
            let log = HandlerLog(query)
            query.start()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<round % 20 { await Task.yield() }
                        query.cancel()
                    }
                }
            }
            let calls = await log.calls
            let ends = calls.filter { if case .end = $0 { true } else { false } }
            #expect(ends.count == 1 && calls.last == ends.first)
            #expect(ends == [.end(query.isCancelled ? .cancelled : nil)])
        }
    }

    // MARK: Errors

    @Test func errorsOfTheServiceReachHandlersAndLoops() async {
        let invalid = CSSearchQueryError(.invalidQuery, "At character 7 of \"title =\" a value was expected.")
        let query = query(FakeQueryTransport([.items(["a"]), .fails(invalid)]))
        let heard = HandlerLog(query)
        query.start()
        let calls = await heard.calls
        #expect(calls == [.items(["id-a"], count: 1), .end(.invalidQuery)])
        let looped = self.query(FakeQueryTransport([.fails(invalid)]))
        await #expect(throws: invalid) { try await identifiers(looped.results) }
        #expect(!looped.isCancelled)
        #expect((invalid as NSError).domain == CSSearchQueryErrorDomain && (invalid as NSError).code == -2002)
        #expect(invalid.localizedDescription.contains("character 7"))
    }

    @Test func withoutAServiceTheIndexIsUnreachable() async {
        let query = CSSearchQuery(queryString: "title == \"*\"", queryContext: nil)
        do {
            _ = try await identifiers(query.results)
            Issue.record("There was a service.")
        } catch CSSearchQueryError.indexUnreachable {} catch { Issue.record(error) }
    }

    @Test(arguments: [
        ResultPage(records: [[1, 2, 3]], next: nil),
        ResultPage(records: Array(repeating: FakeQueryTransport.record("x"), count: 101), next: nil),
        ResultPage(records: [FakeQueryTransport.record("x")], next: []),
    ])
    func whatIsNoPageIsAnError(reply: ResultPage) async {
        let query = query(FakeQueryTransport([.raw(reply)]))
        await #expect(throws: CSSearchQueryError.self) { try await identifiers(query.results) }
    }

    // MARK: Context

    @Test func contextsAreCopiedAndArchivedWhole() throws {
        let context = CSSearchQueryContext()
        context.fetchAttributes = ["title"]
        context.filterQueries = ["a == 1"]
        context.keyboardLanguage = "de"
        context.sourceOptions = .allowMail
        let data = try NSKeyedArchiver.archivedData(withRootObject: context, requiringSecureCoding: true)
        let restored = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSearchQueryContext.self, from: data)
        for other in [context.copy() as? CSSearchQueryContext, restored] {
            let other = try #require(other)
            #expect(other.fetchAttributes == ["title"] && other.filterQueries == ["a == 1"])
            #expect(other.keyboardLanguage == "de" && other.sourceOptions == .allowMail)
        }
    }
}
