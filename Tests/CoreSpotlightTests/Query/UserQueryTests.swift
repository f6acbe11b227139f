// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import CoreSpotlight

@Suite("User query")
struct UserQueryTests {
    private func query(
        _ transport: FakeQueryTransport, _ text: String?, _ change: (CSUserQueryContext) -> Void = { _ in }
    ) -> CSUserQuery {
        let context = CSUserQueryContext()
        context.fetchAttributes = ["title"]
        change(context)
        return transport.make { CSUserQuery(userQueryString: text, userQueryContext: context) }
    }

    private func all<Sequence: AsyncSequence>(_ sequence: Sequence) async throws -> [Sequence.Element]
    where Sequence.Element: Sendable {
        var elements: [Sequence.Element] = []
        for try await element in sequence { elements.append(element) }
        return elements
    }

    @Test func responsesAreSuggestionsThenItems() async throws {
        let transport = FakeQueryTransport(
            [.items(["a"]), .items(["b"])], completions: .success(["oslo harbour", "oslo"]))
        let responses = try await all(query(transport, "oslo").responses)
        #expect(responses.map(\.id) == ["oslo harbour", "oslo", "id-a", "id-b"])
        guard case .suggestion(let first) = responses[0], case .suggestion(let second) = responses[1] else {
            Issue.record("These are no suggestions.")
            return
        }
        #expect(first < second && first != second && first.suggestion.suggestionKind == .default)
        #expect(transport.pages.map(\.kind) == [.userText, .userText])
        #expect(transport.suggestionRequests == ["oslo 10"])
    }

    @Test func aContextCanTurnOffTheSearchByMeaning() async throws {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success([]))
        let context = CSUserQueryContext()
        context.disableSemanticSearch = true
        let query = transport.make { CSUserQuery(userQueryString: "os", userQueryContext: context) }
        for case .item(let item) in try await all(query.responses) {
            query.userEngaged(item, visibleItems: [], interaction: .select)
        }
        #expect(transport.pages.map(\.kind) == [.userWords])
        #expect(transport.engagements == ["select id-a after os"])
    }

    @Test func resultsAreItemsOnlyAndAskForNoSuggestions() async throws {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success(["oslo"]))
        let results = try await all(query(transport, "os").results)
        #expect(results.map(\.id) == ["id-a"])
        #expect(transport.suggestionRequests.isEmpty)
    }

    @Test func suggestionsAreReadApartFromResults() async throws {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success(["oslo"]))
        let query = query(transport, "os")
        let suggestions = try await all(query.suggestions)
        #expect(suggestions.map(\.id) == ["oslo"] && transport.pages.isEmpty)
        let results = try await all(query.results)
        #expect(results.map(\.id) == ["id-a"] && !query.isCancelled)
        await #expect(throws: CSSearchQueryError.self) { try await all(query.responses) }
    }

    @Test func leavingTheLoopOverResponsesCancels() async throws {
        let query = query(FakeQueryTransport([.silence], completions: .success(["oslo", "oslofjord"])), "os")
        for try await _ in query.responses { break }
        #expect(query.isCancelled)
    }

    @Test func nothingTypedFindsNothingButSuggestions() async throws {
        for text in [nil, "", " \n"] {
            let transport = FakeQueryTransport([.items(["a"])], completions: .success(["recent"]))
            let responses = try await all(query(transport, text).responses)
            #expect(responses.map(\.id) == ["recent"])
            #expect(transport.pages.isEmpty)
        }
    }

    @Test func aChosenSuggestionIsSearchedForWhenNothingElseIs() async throws {
        let suggestion = CSSuggestion(completing: "os", to: "oslo harbour", place: 0)
        for (typed, searched) in [(nil, "oslo harbour"), ("", "oslo harbour"), ("bergen", "bergen")] {
            let transport = FakeQueryTransport([.items(["a"])])
            let context = CSUserQueryContext(currentSuggestion: suggestion)
            let query = transport.make { CSUserQuery(userQueryString: typed, userQueryContext: context) }
            _ = try await all(query.results)
            #expect(transport.pages.map(\.text) == [searched])
        }
    }

    @Test func noMoreResultsAreAskedForThanWanted() async throws {
        let transport = FakeQueryTransport([.items(["a", "b"]), .items(["c", "d"]), .items(["e"])])
        let results = try await all(query(transport, "x") { $0.maxResultCount = 3 }.results)
        #expect(results.map(\.id) == ["id-a", "id-b", "id-c"])
        #expect(transport.pages.map(\.limit) == [3, 1])
    }

    @Test func noMoreSuggestionsAreGivenThanWanted() async throws {
        for (wanted, asked, given) in [(2, 2, 2), (0, 10, 10), (1_000, 10, 10)] {
            let transport = FakeQueryTransport([], completions: .success((0..<500).map { "x\($0)" }))
            let suggestions = try await all(query(transport, "x") { $0.maxSuggestionCount = wanted }.suggestions)
            #expect(suggestions.count == given)
            #expect(transport.suggestionRequests == ["x \(asked)"])
        }
    }

    @Test func onlyTheFirstResultsBearARank() async throws {
        let pages: [FakeQueryTransport.Step] = [.items(["a", "b"]), .items(["c"])]
        let some = try await all(query(FakeQueryTransport(pages), "x") { $0.maxRankedResultCount = 1 }.results)
        #expect(some.map { $0.item.rank != nil } == [true, false, false])
        #expect(some[0] < some[1] && !(some[1] < some[2]))
        let none = try await all(query(FakeQueryTransport(pages), "x") { $0.enableRankedResults = false }.results)
        #expect(none.allSatisfy { $0.item.rank == nil })
    }

    @Test func handlersAreGivenSuggestionsAndItems() async {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success(["oslo", "oslofjord"]))
        let query = query(transport, "os")
        let log = HandlerLog(query)
        query.start()
        let calls = await log.calls
        #expect(
            calls == [.suggestions(["oslo", "oslofjord"], count: 2), .items(["id-a"], count: 1), .end(nil)])
        #expect(query.foundSuggestionsHandler == nil && query.foundSuggestionCount == 2)
    }

    @Test func withoutAHandlerNoSuggestionsAreLookedFor() async {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success(["oslo"]))
        let query = query(transport, "os")
        await withCheckedContinuation { continuation in
            query.completionHandler = { _ in continuation.resume() }
            query.start()
        }
        #expect(transport.suggestionRequests.isEmpty && query.foundSuggestionCount == 0)
    }

    @Test func failedSuggestionsFailTheQuery() async throws {
        let lost = CSSearchQueryError(.indexUnreachable, "The service went away.")
        let transport = FakeQueryTransport([.items(["a"])], completions: .failure(lost))
        await #expect(throws: lost) { try await all(query(transport, "os").responses) }
    }

    @Test func aQueryStringOfTheLanguageIsTakenAsOne() async throws {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success(["oslo"]))
        let query = transport.make { CSUserQuery(queryString: "title == \"a\"", queryContext: nil) }
        let responses = try await all(query.responses)
        #expect(responses.map(\.id) == ["id-a"])
        #expect(transport.pages.map(\.kind) == [.query] && transport.suggestionRequests.isEmpty)
    }

    @Test func engagementWithAnItemIsReportedAndWithASuggestionIsNot() async throws {
        let transport = FakeQueryTransport([.items(["a"])], completions: .success(["oslo"]))
        let query = query(transport, "os")
        CSUserQuery.prepare()
        CSUserQuery.prepareProtectionClasses([.complete])
        for response in try await all(query.responses) {
            switch response {
            case .item(let item):
                query.userEngaged(item, visibleItems: [item], interaction: .select)
                query.userEngaged(item, visibleItems: [], interaction: .focus)
            case .suggestion(let suggestion):
                query.userEngaged(suggestion, visibleSuggestions: [suggestion], interaction: .default)
            @unknown default: break
            }
        }
        #expect(transport.numbers.count == 2)
        #expect(transport.engagements == ["select id-a after os", "focus id-a after os"])
    }

    @Test func engagementWithAQueryOfTheLanguageIsNotReported() async throws {
        let transport = FakeQueryTransport([.items(["a"])])
        let query = transport.make { CSUserQuery(queryString: "title == \"a\"", queryContext: nil) }
        for response in try await all(query.responses) {
            if case .item(let item) = response { query.userEngaged(item, visibleItems: [item], interaction: .select) }
        }
        #expect(transport.engagements.isEmpty)
    }

    // MARK: Suggestions

    private func marked(_ typed: String, _ text: String) -> [String] {
        let suggestion = CSSuggestion(completing: typed, to: text, place: 0)
        let swift = suggestion.localizedAttributedSuggestion
        let runs = swift.runs.filter { $0[CSSuggestion.HighlightAttribute.self] == true }
        let texts = runs.map { String(swift[$0.range].characters) }
        let plain = suggestion.attributedSuggestion
        var alike: [String] = []
        plain.enumerateAttribute(.suggestionHighlight, in: NSRange(location: 0, length: plain.length)) {
            value, range, _ in
            if (value as? NSNumber)?.boolValue == true {
                alike.append((plain.string as NSString).substring(with: range))
            }
        }
        #expect(texts == alike)
        #expect(String(swift.characters) == text)
        return texts
    }

    @Test func theTypedPartOfASuggestionIsMarked() {
        #expect(marked("search", "search suggestion") == ["search"])
        #expect(marked("SÉA ", "seaside") == ["sea"])
        #expect(marked("os har", "harbour of Oslo") == ["har", "Os"])
        #expect(marked("", "recent") == [])
        #expect(marked("zebra", "horse") == [])
        #expect(marked("👩‍👩‍👧 b", "👩‍👩‍👧 boat") == ["👩‍👩‍👧 b"])
    }

    @Test func suggestionsAreOrderedAndArchived() throws {
        let first = CSSuggestion(completing: "o", to: "oslo", place: 0)
        let second = CSSuggestion(completing: "o", to: "bergen", place: 1)
        #expect(first.compare(byRank: second) == .orderedAscending)
        #expect(second.compare(byRank: first) == .orderedDescending)
        #expect(first.compare(second) == .orderedDescending && first.compare(byRank: first) == .orderedSame)
        let data = try NSKeyedArchiver.archivedData(withRootObject: first, requiringSecureCoding: true)
        let restored = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: CSSuggestion.self, from: data))
        #expect(restored == first && restored.attributedSuggestion == first.attributedSuggestion)
        #expect(restored.suggestionKind == .default)
    }

    @Test func contextsAreCopiedAndArchivedWhole() throws {
        let context = CSUserQueryContext(currentSuggestion: CSSuggestion(completing: "o", to: "oslo", place: 0))
        #expect(context.enableRankedResults && context.maxRankedResultCount == 100)
        #expect(context.maxResultCount == 0 && context.maxSuggestionCount == 0 && !context.disableSemanticSearch)
        context.enableRankedResults = false
        context.maxResultCount = 1
        context.maxSuggestionCount = 2
        context.maxRankedResultCount = 3
        context.disableSemanticSearch = true
        context.filterQueries = ["a == 1"]
        let data = try NSKeyedArchiver.archivedData(withRootObject: context, requiringSecureCoding: true)
        let restored = try NSKeyedUnarchiver.unarchivedObject(ofClass: CSUserQueryContext.self, from: data)
        for other in [context.copy() as? CSUserQueryContext, restored] {
            let other = try #require(other)
            #expect(!other.enableRankedResults && other.disableSemanticSearch && other.filterQueries == ["a == 1"])
            #expect(other.maxResultCount == 1 && other.maxSuggestionCount == 2 && other.maxRankedResultCount == 3)
            #expect(other.currentSuggestion?.text == "oslo")
        }
    }
}
