// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchIndex
import SearchlightEngine
import Synchronization

/// The store of a program that outlives the service. If the service exits during a call, the call
/// is repeated once: with the next service, or else with an engine in this process, until a service
/// is running again.
///
/// May be used from any task, but only for calls that may be performed twice.
package final class LastingStore: EngineClient {
    /// An open store.
    package struct Opened: Sendable {
        var client: any EngineClient
        /// `true` if the client is a connection to the service.
        var isService: Bool
        /// `true` if this object closes the store.
        var isOwned = true

        package init(client: any EngineClient, isService: Bool) { (self.client, self.isService) = (client, isService) }
    }

    /// A store with a use count. It is closed when it has been retired and its last use has ended.
    private final class Held: Sendable {
        let opened: Opened
        private let uses = Mutex((count: 0, isOver: false))

        init(_ opened: Opened) { self.opened = opened }

        func begin() { uses.withLock { $0.count += 1 } }

        func end() async {
            let isLast = uses.withLock { uses in
                uses.count -= 1
                return uses.isOver && uses.count == 0
            }
            if isLast, opened.isOwned { await opened.client.close() }
        }

        /// Retires the store, because another store replaces it.
        func retire() async {
            let isUnused = uses.withLock { uses in
                defer { uses.isOver = true }
                return !uses.isOver && uses.count == 0
            }
            if isUnused, opened.isOwned { await opened.client.close() }
        }
    }

    private let held: Mutex<Held>
    private let connect: @Sendable () async throws(EngineError) -> Opened?
    private let open: @Sendable () async throws(EngineError) -> Opened

    /// Creates a lasting store.
    ///
    /// - Parameters:
    ///   - first: An open store, which the caller closes.
    ///   - connect: Connects to the service; returns `nil` if none is running.
    ///   - open: Opens an engine in this process.
    package init(
        _ first: Opened, connect: @escaping @Sendable () async throws(EngineError) -> Opened?,
        open: @escaping @Sendable () async throws(EngineError) -> Opened
    ) {
        var first = first
        first.isOwned = false
        held = Mutex(Held(first))
        (self.connect, self.open) = (connect, open)
    }

    package func perform<Call: ClientCall>(
        _ call: Call, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Call.Answer {
        let first = await current()
        do throws(EngineError) {
            let answer = try await first.opened.client.perform(call, onEvent: onEvent)
            await first.end()
            return answer
        } catch {
            await first.end()
            guard first.opened.isService, case .service(.ended) = error else { throw error }
        }
        let next = try await successor(of: first)
        defer { Task { await next.end() } }
        return try await next.opened.client.perform(call, onEvent: onEvent)
    }

    package func close() async { await held.withLock { $0 }.retire() }

    /// Returns the store to use. If it is an engine in this process and a service has started,
    /// switches to the service.
    private func current() async -> Held {
        let now = use { $0 }
        guard !now.opened.isService, let service = try? await connect() else { return now }
        let next = await replace(now, by: service)
        await now.end()
        return next
    }

    /// Returns the store to use after a service has exited. Another caller may already have
    /// replaced it.
    private func successor(of ended: Held) async throws(EngineError) -> Held {
        let now = use { $0 }
        if now !== ended { return now }
        await now.end()
        var opened: Opened?
        do throws(EngineError) { opened = try await connect() } catch {
            // The service may still be shutting down.
        }
        if opened == nil { opened = try await open() }
        return await replace(ended, by: opened ?? ended.opened)
    }

    private func use(_ choose: (Held) -> Held) -> Held {
        held.withLock { held in
            held = choose(held)
            held.begin()
            return held
        }
    }

    private func replace(_ old: Held, by opened: Opened) async -> Held {
        let new = Held(opened)
        let used = use { $0 === old ? new : $0 }
        await (used === new ? old : new).retire()
        return used
    }
}
