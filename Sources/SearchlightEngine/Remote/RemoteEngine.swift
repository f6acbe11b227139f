// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord
import MetadataQuery
import Previews
import Promises
import SearchIndex
import ServiceMessages
import SystemSupport

/// The engine of the service, asked over a connection.
///
/// May be used from any task.
public final class RemoteEngine: StoreService {
    let connection: ServiceConnection

    private init(_ connection: ServiceConnection) { self.connection = connection }

    /// How long a service may take to say hello.
    public static let standardPatience = Duration.seconds(5)

    /// Connects to the service of a store, if one listens at its socket. This starts none, but for one that systemd
    /// listens for.
    ///
    /// - Parameters:
    ///   - storeDirectory: The folder of the store.
    ///   - program: What this program is called, for the service's log.
    ///   - patience: How long the service may take to say hello.
    /// - Returns: `nil` if nobody listens, or whoever did has just ended.
    /// - Throws: ``EngineError/service(_:)``.
    public static func connect(
        storeDirectory: String, program: String, patience: Duration = standardPatience
    ) async throws(EngineError) -> RemoteEngine? {
        // One that ends while it is connected to may be followed by another, which systemd starts.
        for _ in 0..<2 {
            let socket: OwnedDescriptor?
            do throws(ServiceProblem) {
                socket = try ServiceSearch.connect(storeDirectory: storeDirectory)
            } catch {
                throw .service(error)
            }
            guard let socket else { return nil }
            do throws(EngineError) {
                return RemoteEngine(
                    try await ServiceConnection.open(
                        over: socket, path: StoreLocation(folder: storeDirectory).socketPath, program: program,
                        patience: patience))
            } catch {
                guard case .service(.ended) = error else { throw error }
            }
        }
        return nil
    }

    /// What the service says of itself.
    ///
    /// - Throws: ``EngineError``.
    public func facts() async throws(EngineError) -> ServiceFacts { try await connection.perform(FactsCall()).answer }

    /// Has the service end once what is under way is done. Returns when it has taken this in.
    ///
    /// - Throws: ``EngineError``.
    public func stopService() async throws(EngineError) {
        do throws(EngineError) {
            _ = try await connection.perform(StopCall())
        } catch .service(.ended) {
            // That it does this may be quicker than its answer.
        }
    }

    /// See ``StoreService/opening()``.
    public func opening() async throws(EngineError) -> StoreOpening {
        try await connection.perform(OpeningCall()).answer
    }

    /// See ``StoreService/extensions()``.
    public func extensions() async throws(EngineError) -> InstalledExtensions {
        try await connection.perform(ExtensionsCall()).answer
    }

    /// See ``StoreService/status(isExact:)``.
    public func status(isExact: Bool) async throws(EngineError) -> StoreStatus {
        try await connection.perform(StatusCall(isExact: isExact)).answer
    }

    /// See ``StoreService/itemCounts()``.
    public func itemCounts() async throws(EngineError) -> [String: Int] {
        try await connection.perform(ItemCountsCall()).answer
    }

    /// See ``StoreService/pendingDonations()``.
    public func pendingDonations() async throws(EngineError) -> PendingDonations {
        try await connection.perform(PendingCall()).answer
    }

    /// See ``StoreService/owedReindexes()``.
    public func owedReindexes() async throws(EngineError) -> [OwedJob] {
        try await connection.perform(OwedReindexesCall()).answer
    }

    /// See ``StoreService/prewarm(_:)``.
    public func prewarm(_ bundle: String) async { _ = try? await connection.perform(PrewarmCall(bundle: bundle)) }

    /// See ``StoreService/reindexAll(_:onEvent:)``.
    public func reindexAll(
        _ identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        try await connection.perform(ReindexCall(bundle: identifier), onEvent: onEvent).answer
    }

    /// See ``StoreService/compare(_:)``.
    public func compare(_ identifier: String) async throws(EngineError) -> Comparison {
        try await connection.perform(CompareCall(bundle: identifier)).answer
    }

    /// See ``StoreService/commit(_:clientState:expecting:)``.
    public func commit(
        _ batch: IndexBatch, clientState: [UInt8]?, expecting expectation: ClientStateExpectation
    ) async throws(EngineError) {
        let call = CommitCall(clientState: clientState, expectation: expectation)
        let bytes: [UInt8]
        do throws(SearchIndexError) { bytes = try batch.encoded() } catch { throw .index(error) }
        _ = try await connection.perform(call, sending: try Payload.holding(bytes, for: call.purpose))
    }

    /// See ``StoreService/clientState(of:)``.
    public func clientState(of scope: IndexScope) async throws(EngineError) -> [UInt8]? {
        try await connection.perform(ClientStateCall(scope: scope)).answer
    }

    /// See ``StoreService/settle()``.
    public func settle() async throws(EngineError) { _ = try await connection.perform(SettleCall()) }

    /// See ``StoreService/rejections(in:after:)``.
    public func rejections(in scope: IndexScope, after mark: Rejections.Mark?) async throws(EngineError) -> Rejections {
        try await connection.perform(RejectionsCall(scope: scope, mark: mark)).answer
    }

    /// See ``StoreService/close()``.
    public func close() async { connection.close() }
}
