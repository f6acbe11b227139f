// SPDX-License-Identifier: Apache-2.0
import MessageSupport
import BusTransport
import ExtensionHost
import ItemRecord
import SearchlightEngine
import ServiceMessages
import Synchronization

/// A test app that registers as a delegate, with its answers and its donations over its connection.
final class FakeApp: LiveDelegate {
    typealias Answer = @Sendable (FakeApp, WorkerRequest) async throws(BusError) -> [BusValue]

    private struct State {
        var requests: [WorkerRequest] = []
        var settles = 0
        var loss: BusError?
        var token: DelegateToken?
    }
    private let state = Mutex(State())
    private let engine: SearchlightEngine
    private let bundle: String
    private let answer: Answer

    /// Creates an app that is not registered yet. Without a configured answer it acknowledges
    /// everything and donates nothing.
    init(_ bundle: String, _ engine: SearchlightEngine, answer: @escaping Answer = { _, _ throws(BusError) in [] }) {
        self.bundle = bundle
        self.engine = engine
        self.answer = answer
    }

    /// The requests it received.
    var requests: [WorkerRequest] { state.withLock { $0.requests } }
    /// The number of times that the engine waited for the app's donations.
    var settles: Int { state.withLock { $0.settles } }

    @discardableResult
    func register() throws -> DelegateToken {
        let token = try engine.registerDelegate(self, for: bundle)
        state.withLock { $0.token = token }
        return token
    }

    func unregister() {
        if let token = state.withLock({ $0.token }) { engine.unregisterDelegate(token) }
    }

    func lose(_ refusal: BusError) { state.withLock { $0.loss = refusal } }

    func perform(_ request: WorkerRequest) async throws(BusError) -> [BusValue] {
        state.withLock { $0.requests.append(request) }
        return try await answer(self, request)
    }

    func settle() async { state.withLock { $0.settles += 1 } }

    func takeLoss() -> BusError? {
        state.withLock { state in
            defer { state.loss = nil }
            return state.loss
        }
    }

    /// Changes the app's index over the connection with which the app registered.
    @discardableResult
    func send(_ action: IndexRequest.Action, index: String? = nil) async throws(BusError) -> [BusValue] {
        let token = state.withLock { $0.token }
        return try await Self.send(
            action, index: index, bundle, engine.receiver(for: token.map { .delegate($0) } ?? .app))
    }

    @discardableResult
    func send(_ change: EncodedChange) async throws(BusError) -> [BusValue] { try await send(.change(change)) }

    func donate(_ names: String...) async throws(BusError) { try await send(.put(Self.batch(names))) }

    /// Changes the app's index over another connection of the same app.
    static func send(
        _ action: IndexRequest.Action, index: String? = nil, _ bundle: String, _ receiver: any DonationReceiver
    ) async throws(BusError) -> [BusValue] {
        try await receiver.answer(IndexRequest(action, index: index), from: bundle)
    }

    static func send(
        _ change: EncodedChange, index: String? = nil, _ bundle: String, _ receiver: any DonationReceiver
    ) async throws(BusError) -> [BusValue] { try await send(.change(change), index: index, bundle, receiver) }

    /// Returns items with these names as identifiers and titles, and a promise of plain text.
    static func batch(_ names: [String]) -> [UInt8] {
        var batch: [UInt8] = []
        for name in names {
            let record = ItemRecord(
                uniqueIdentifier: name,
                attributes: [
                    "title": .string(name), "providerDataTypeIdentifiers": .array([.string("public.utf8-plain-text")]),
                ])
            if let item = try? EncodedItem(record) { RecordBatch.append(item.bytes, to: &batch) }
        }
        return batch
    }
}

extension SearchlightEngine {
    /// Returns the identifiers of a bundle's items, sorted.
    func identifiers(_ bundle: String) async throws -> [String] {
        try await items(matching: .and([]), bundle: bundle, limit: 1000).items.map(\.record.uniqueIdentifier).sorted()
    }
}
