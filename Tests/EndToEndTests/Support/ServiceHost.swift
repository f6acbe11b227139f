// SPDX-License-Identifier: Apache-2.0
import BusTransport
import Foundation
import Glibc
import SearchIndex
@testable import SearchlightEngine
import ServiceMessages
import Synchronization
import SystemSupport
import Testing

/// An engine behind its store's socket, like the service, but in the test process.
final class ServiceHost: Sendable {
    private let listener: OwnedDescriptor
    private let path: String
    private let home: HostedStore
    private let calls: ClientCallHandler
    private let clients = Mutex<[BusConnection]>([])
    /// Counts the requests to stop.
    let stops = Counter()
    /// Counts the clients' messages.
    let requests = Counter()

    init(
        _ harness: Harness, configuring change: @escaping @Sendable (inout EngineConfiguration) -> Void = { _ in }
    ) throws {
        path = harness.store + "/socket"
        let engine = try harness.engine(searchPath: harness.searchPath, configuring: change)
        home = HostedStore(engine) { try harness.engine(searchPath: harness.searchPath, configuring: change) }
        let (home, stops) = (home, stops)
        calls = ClientCallHandler(
            control: ServiceControl(
                facts: { ServiceFacts(processIdentifier: getpid(), version: "test", uptime: 130, clients: 1) },
                stop: { stops.add() }, maintenance: { [home] in home }), engine: home)
        listener = try StreamSocket.listen(at: path)
        Thread.detachNewThread { [self] in accept() }
    }

    final class Counter: Sendable {
        private let count = Atomic(0)
        func add() { count.add(1, ordering: .relaxed) }
        var value: Int { count.load(ordering: .relaxed) }
    }

    private func accept() {
        while case let number = Glibc.accept(listener.number, nil, nil), number >= 0 {
            guard let client = try? client(OwnedDescriptor(adopting: number)) else { continue }
            clients.withLock { $0.append(client) }
        }
    }

    private func client(_ socket: OwnedDescriptor) throws -> BusConnection {
        let engineCalls = ClientCallSession(calls)
        let requests = requests
        let connection = try BusConnection(adopting: socket, side: .server, name: "client") { call in
            requests.add()
            switch call.member {
            case Hello.member:
                guard (try? Hello(call)) != nil else { return call.refuse(name: "x", message: "No hello.") }
                let welcome = Welcome(
                    serviceVersion: "test", bundle: nil, processIdentifier: UInt64(getpid()))
                call.reply(welcome.arguments)
            default:
                do throws(BusError) { engineCalls.take(try AdminRequest(call), call) } catch { call.refuse(error) }
            }
        } onDisconnect: { _ in
            engineCalls.end()
        }
        engineCalls.attach(connection)
        return connection
    }

    /// Ends immediately, like a killed service, but closes the store.
    func close() async {
        shutdown(listener.number, Int32(SHUT_RDWR))
        unlink(path)
        for client in clients.withLock({ $0 }) { client.close() }
        await home.close()
    }
}

/// The engine of a service, which closes for a repair.
actor HostedStore: StoreMaintenance, EngineSource {
    private var current: SearchlightEngine?
    private let reopen: @Sendable () throws -> SearchlightEngine

    init(_ engine: SearchlightEngine, reopen: @escaping @Sendable () throws -> SearchlightEngine) {
        current = engine
        self.reopen = reopen
    }

    func engine() throws(EngineError) -> SearchlightEngine {
        guard let current else { throw .index(.closed) }
        return current
    }

    nonisolated func use<Value: Sendable>(
        _ need: EngineNeed, _ body: (SearchlightEngine) async throws(EngineError) -> Value
    ) async throws(EngineError) -> Value {
        try await body(try await engine())
    }

    func verify() async throws(EngineError) -> VerificationReport { try await engine().verify() }

    func repair() async throws(EngineError) -> StoreCheck.Repair {
        try await StoreCheck.Repair.perform(
            on: self, verify: { () throws(EngineError) in try await verify() },
            exclusively: { () throws(EngineError) in try await repairAll() })
    }

    private func repairAll() async throws(EngineError) -> StoreCheck.Repair {
        let engine = try engine()
        current = nil
        await engine.close()
        let repair = try await StoreCheck(engine.configuration).repair()
        current = try? reopen()
        return repair
    }

    func close() async {
        await current?.close()
        current = nil
    }
}

/// Unix sockets with a path, for tests.
enum StreamSocket {
    static func listen(at path: String) throws -> OwnedDescriptor {
        let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        try #require(number >= 0)
        let descriptor = OwnedDescriptor(adopting: number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        try #require(path.utf8.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        chmod(path, 0o600)
        try #require(result == 0 && Glibc.listen(number, 64) == 0, "\(String(cString: strerror(errno)))")
        return descriptor
    }
}
