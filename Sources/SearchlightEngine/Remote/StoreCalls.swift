// SPDX-License-Identifier: Apache-2.0
import ItemRecord
import Promises
import SearchIndex

/// An answer that says nothing but that it was done.
struct Done: Codable, Sendable {}

struct OpeningCall: EngineCall {
    static let name = "opening"
    var purpose: String { "say what was found at its opening" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> StoreOpening {
        desk.toldOnce(try await desk.store().opening())
    }
}

struct StatusCall: EngineCall {
    static let name = "status"
    var purpose: String { "say how the index is" }
    var isExact: Bool

    func perform(_ desk: CallDesk) async throws(EngineError) -> StoreStatus {
        var status = try await desk.store().status(isExact: isExact)
        status.service = desk.control.facts()
        return status
    }
}

struct ItemCountsCall: EngineCall {
    static let name = "itemCounts"
    var purpose: String { "count the items of each bundle" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> [String: Int] { try await desk.store().itemCounts() }
}

struct PendingCall: EngineCall {
    static let name = "pending"
    var purpose: String { "say what cannot be found yet" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> PendingDonations {
        try await desk.store().pendingDonations()
    }
}

struct OwedReindexesCall: EngineCall {
    static let name = "owedReindexes"
    var purpose: String { "list the reindexes that are owed" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> [OwedJob] { try await desk.store().owedReindexes() }
}

/// A batch; its changes follow as a payload.
struct CommitCall: EngineCall {
    static let name = "commit"
    var purpose: String { "store items" }
    var clientState: [UInt8]?
    var expectation: ClientStateExpectation

    func perform(_ desk: CallDesk) async throws(EngineError) -> Done {
        guard let payload = desk.payload else {
            throw .service(.refused(during: purpose, reason: "the changes are missing"))
        }
        let bytes = try await onDelivery { () throws(PromiseError) in
            try Delivery.collect(payload, limit: CallCoding.maximumPayloadBytes)
        }
        let batch: IndexBatch
        do throws(SearchIndexError) { batch = try IndexBatch(decoding: bytes) } catch { throw .index(error) }
        try await desk.store().commit(batch, clientState: clientState, expecting: expectation)
        return Done()
    }
}

struct ClientStateCall: EngineCall {
    static let name = "clientState"
    var purpose: String { "read a client state" }
    var scope: IndexScope

    func perform(_ desk: CallDesk) async throws(EngineError) -> [UInt8]? {
        try await desk.store().clientState(of: scope)
    }
}

struct SettleCall: EngineCall {
    static let name = "settle"
    var purpose: String { "have everything found that was donated" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> Done {
        try await desk.store().settle()
        return Done()
    }
}

struct RejectionsCall: EngineCall {
    static let name = "rejections"
    var purpose: String { "say what was left out" }
    var scope: IndexScope
    var mark: Rejections.Mark?

    func perform(_ desk: CallDesk) async throws(EngineError) -> Rejections {
        try await desk.store().rejections(in: scope, after: mark)
    }
}

struct FactsCall: EngineCall {
    static let name = "service.status"
    var purpose: String { "say how it is" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> ServiceFacts { desk.control.facts() }
}

struct StopCall: EngineCall {
    static let name = "service.stop"
    var purpose: String { "end" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> Done {
        desk.control.stop()
        return Done()
    }
}
