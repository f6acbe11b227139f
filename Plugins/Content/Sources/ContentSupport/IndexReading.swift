// SPDX-License-Identifier: Apache-2.0
package import CoreSpotlight
import Dispatch
import Synchronization

/// Index calls that block until the result arrives.
extension CSSearchableIndex {
    /// Passes the item identifiers that begin with a prefix to a closure, in pages and in byte
    /// order. Stops when the closure returns `false`.
    ///
    /// - Parameter pageSize: The number of identifiers in a page, at most 1,000.
    package func listItems(withPrefix prefix: String, pageSize: Int = 1000, _ body: ([String]) -> Bool) throws {
        // The listing starts after this text, so it omits an identifier that equals the prefix.
        var after = prefix
        while true {
            let page = try waitForResult { done in
                fetchItemIdentifiers(after: after, maximumCount: pageSize) { identifiers, error in
                    done(error.map { .failure($0) } ?? .success(identifiers))
                }
            }
            let matching = page.prefix { $0.utf8.starts(with: prefix.utf8) }
            if !matching.isEmpty, !body(Array(matching)) { return }
            guard matching.count == page.count, page.count == pageSize, let last = page.last else { return }
            after = last
        }
    }

    /// Returns the client state of a named index; `nil` if there is none.
    package func clientState() throws -> Data? {
        try waitForResult { done in
            fetchLastClientState { state, error in done(error.map { .failure($0) } ?? .success(state)) }
        }
    }

    /// Stores the client state of a named index, and returns when it is durable.
    ///
    /// - Parameter isCancelled: Returns `true` if the caller no longer waits. The function then
    ///   throws `CancellationError`.
    package func setClientState(_ state: Data, isCancelled: () -> Bool = { false }) throws {
        try waitForResult(isCancelled: isCancelled) { (done: @escaping @Sendable (Result<Void, any Error>) -> Void) in
            beginBatch()
            endBatch(withClientState: state) { error in done(error.map { .failure($0) } ?? .success(())) }
        }
    }

    private func waitForResult<Value: Sendable>(
        isCancelled: () -> Bool = { false }, _ request: (@escaping @Sendable (Result<Value, any Error>) -> Void) -> Void
    ) throws -> Value {
        let box = ResultBox<Value>()
        request { box.set($0) }
        return try box.wait(isCancelled)
    }
}

/// A result that another thread provides.
private final class ResultBox<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func set(_ new: Result<Value, any Error>) {
        result.withLock { $0 = new }
        isThere.signal()
    }

    func wait(_ isCancelled: () -> Bool) throws -> Value {
        while isThere.wait(timeout: .now() + .seconds(1)) == .timedOut {
            if isCancelled() { throw CancellationError() }
        }
        guard let result = result.withLock({ $0 }) else { throw CancellationError() }
        return try result.get()
    }
}
