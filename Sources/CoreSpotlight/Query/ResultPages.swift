// SPDX-License-Identifier: Apache-2.0

internal import ItemRecord
import Foundation
import Synchronization

/// The pages with a query's results, for one reader.
final class ResultPages: Sendable {
    private enum Stage {
        case new
        /// A page was requested.
        case asked(QueryCall<ResultPage>, limit: Int)
        case at(cursor: [UInt8])
        case over
        case failed(CSSearchQueryError)
    }

    private struct State {
        var stage = Stage.new
        /// The number of results read so far.
        var count = 0
        var isCancelled = false
    }

    private let plan: ResultPagePlan
    private let attributes: Set<String>
    private let transport: Result<any QueryTransport, CSSearchQueryError>
    private let state = Mutex(State())
    /// Read while the state is locked, so it has a lock of its own.
    private let wantedClasses = Mutex([FileProtectionType.completeUntilFirstUserAuthentication.rawValue])

    /// The protection classes of the indexes to search, by their raw values.
    var classes: [String] {
        get { wantedClasses.withLock { $0 } }
        set { wantedClasses.withLock { $0 = newValue } }
    }

    init(_ plan: ResultPagePlan, _ transport: Result<any QueryTransport, CSSearchQueryError>) {
        self.plan = plan
        self.transport = transport
        attributes = Set(plan.attributes)
    }

    /// Requests the first page, unless it has already been requested.
    func begin() {
        state.withLock { state in
            guard case .new = state.stage, !state.isCancelled else { return }
            state.stage = plan.asksForItems ? ask(at: [], after: 0) : .over
        }
    }

    /// Returns the next non-empty page; `nil` at the end. One reader at a time.
    func next() async throws(CSSearchQueryError) -> [CSSearchableItem]? {
        begin()
        while true {
            let asked = try state.withLock { state throws(CSSearchQueryError) -> (QueryCall<ResultPage>, Int)? in
                if state.isCancelled { throw .cancelledQuery }
                if case .at(let cursor) = state.stage { state.stage = ask(at: cursor, after: state.count) }
                switch state.stage {
                case .asked(let call, let limit): return (call, limit)
                case .failed(let error): throw error
                case .new, .at, .over: return nil
                }
            }
            guard let (call, limit) = asked else { return nil }
            let items: [CSSearchableItem]
            do throws(CSSearchQueryError) {
                items = try take(try await call.value, limit)
            } catch {
                state.withLock { if !$0.isCancelled { $0.stage = .failed(error) } }
                throw error
            }
            if !items.isEmpty { return items }
        }
    }

    /// Cancels the request. A waiting reader receives the error at once.
    func cancel() {
        let call: QueryCall<ResultPage>? = state.withLock { state in
            state.isCancelled = true
            guard case .asked(let call, _) = state.stage else { return nil }
            return call
        }
        call?.cancel()
    }

    private func ask(at cursor: [UInt8], after count: Int) -> Stage {
        switch transport {
        case .failure(let error): return .failed(error)
        case .success(let transport):
            guard var request = plan.page(at: cursor, after: count) else { return .over }
            request.classes = classes
            let wanted = request
            let call = QueryCall(transport) { transport, number async throws(CSSearchQueryError) in
                try await transport.page(wanted, number: number)
            }
            return .asked(call, limit: wanted.limit)
        }
    }

    /// Accepts a page, and returns its items with the requested attributes.
    private func take(_ page: ResultPage, _ limit: Int) throws(CSSearchQueryError) -> [CSSearchableItem] {
        guard page.records.count <= limit, page.next?.isEmpty != true else {
            throw CSSearchQueryError(
                .unknown,
                "The service answered with \(page.records.count) results for a limit of \(limit), or without a position "
                    + "for the next page. Install the service and this library from the same release.")
        }
        var items: [CSSearchableItem] = []
        for bytes in page.records {
            do throws(ItemRecordError) {
                var record = try ItemRecord(decoding: bytes)
                record.attributes = record.attributes.filter { attributes.contains($0.key) }
                items.append(CSSearchableItem(record))
            } catch {
                throw CSSearchQueryError(.unknown, "A result could not be read. \(error) Search again.")
            }
        }
        try state.withLock { state throws(CSSearchQueryError) in
            if state.isCancelled { throw .cancelledQuery }
            for (offset, item) in items.enumerated() {
                let place = state.count + offset
                if place < plan.rankedCount ?? .max { item.rank = -Double(place) }
            }
            state.count += items.count
            state.stage = page.next.map { .at(cursor: $0) } ?? .over
        }
        return items
    }
}
