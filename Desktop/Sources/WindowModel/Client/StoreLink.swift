// SPDX-License-Identifier: Apache-2.0
import SearchlightEngine
import Synchronization

/// The window's store, which is opened in the background so that the window appears immediately. If
/// opening fails, the next request tries again.
///
/// ```swift
/// let link = StoreLink { use in try await options.withLastingStore { store in await use(store) } }
/// let store = try await link.store()
/// ```
///
/// May be used from any task.
package final class StoreLink: Sendable {
    /// Opens a store, passes it to a function, and closes it when the function returns.
    package typealias Opening =
        @Sendable (_ use: @escaping @Sendable (any EngineClient) async -> Void) async throws -> Void

    private typealias Waiter = CheckedContinuation<any EngineClient, any Error>

    private enum State {
        case closed
        case opening([Waiter])
        case open(any EngineClient, end: CheckedContinuation<Void, Never>?)
        case ended
    }

    /// The error for a request after the end.
    package struct Ended: Error {}

    private let state = Mutex(State.closed)
    private let opening: Opening

    /// Creates a link without opening the store.
    package init(_ opening: @escaping Opening) { self.opening = opening }

    /// Returns the store, and waits until it is open.
    ///
    /// - Throws: The error that opening the store caused.
    package func store() async throws -> any EngineClient {
        try await withCheckedThrowingContinuation { continuation in
            let (ready, starts): (Result<any EngineClient, any Error>?, Bool) = state.withLock { state in
                switch state {
                case .ended: return (.failure(Ended()), false)
                case .open(let store, _): return (.success(store), false)
                case .opening(let waiting):
                    state = .opening(waiting + [continuation])
                    return (nil, false)
                case .closed:
                    state = .opening([continuation])
                    return (nil, true)
                }
            }
            if let ready { continuation.resume(with: ready) }
            if starts { start() }
        }
    }

    /// Closes the store. Later requests fail.
    package func end() {
        let (waiting, open) = state.withLock {
            state -> ([Waiter], CheckedContinuation<Void, Never>?) in
            defer { state = .ended }
            switch state {
            case .opening(let waiting): return (waiting, nil)
            case .open(_, let end): return ([], end)
            case .closed, .ended: return ([], nil)
            }
        }
        for continuation in waiting { continuation.resume(throwing: Ended()) }
        open?.resume()
    }

    private func start() {
        Task {
            do {
                try await opening { [self] store in await hold(store) }
                finish(.failure(Ended()))
            } catch {
                finish(.failure(error))
            }
        }
    }

    /// Keeps a store open until the end.
    private func hold(_ store: any EngineClient) async {
        await withCheckedContinuation { (end: CheckedContinuation<Void, Never>) in
            let waiting: [Waiter]? = state.withLock { state in
                guard case .opening(let waiting) = state else { return nil }
                state = .open(store, end: end)
                return waiting
            }
            guard let waiting else { return end.resume() }
            for continuation in waiting { continuation.resume(returning: store) }
        }
    }

    /// Handles the failure to open the store.
    private func finish(_ result: Result<any EngineClient, any Error>) {
        let waiting: [Waiter] = state.withLock { state in
            guard case .opening(let waiting) = state else { return [] }
            state = .closed
            return waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }
}
