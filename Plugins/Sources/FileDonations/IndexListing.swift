// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Dispatch
import Synchronization

extension CSSearchableIndex {
    /// Returns the item identifiers that begin with a prefix, in byte order. Blocks until the index
    /// answers.
    ///
    /// - Parameter limit: The maximum number of identifiers.
    package func itemIdentifiers(withPrefix prefix: String, limit: Int = 1_000_000) throws -> [String] {
        let pageSize = 1000
        var found: [String] = []
        // The listing starts after this text, so it omits an identifier that equals the prefix.
        var after = prefix
        while found.count < limit {
            let result = BlockingResult<[String]>()
            fetchItemIdentifiers(after: after, maximumCount: pageSize) { identifiers, error in
                result.give(error.map { .failure($0) } ?? .success(identifiers))
            }
            let page = try result.wait()
            let matching = page.prefix { $0.utf8.starts(with: prefix.utf8) }
            found += matching
            guard matching.count == page.count, page.count == pageSize, let last = page.last else { break }
            after = last
        }
        return found
    }

    /// Returns the client state of a named index; nil if there is none.
    package func lastClientState() throws -> Data? {
        let result = BlockingResult<Data?>()
        fetchLastClientState { state, error in result.give(error.map { .failure($0) } ?? .success(state)) }
        return try result.wait()
    }

    /// Stores the client state of a named index, and returns when it is durable.
    package func storeClientState(_ state: Data) throws {
        let result = BlockingResult<Void>()
        beginBatch()
        endBatch(withClientState: state) { error in result.give(error.map { .failure($0) } ?? .success(())) }
        try result.wait()
    }
}

/// The result of a completion handler, for a thread that blocks until it arrives.
private final class BlockingResult<Value: Sendable>: Sendable {
    private let result = Mutex<Result<Value, any Error>?>(nil)
    private let semaphore = DispatchSemaphore(value: 0)

    func give(_ value: Result<Value, any Error>) {
        result.withLock { $0 = value }
        semaphore.signal()
    }

    func wait() throws -> Value {
        semaphore.wait()
        guard let value = result.withLock({ $0 }) else { throw CancellationError() }
        return try value.get()
    }
}
