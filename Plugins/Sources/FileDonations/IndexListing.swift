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
        var found: [String] = []
        try visitItemIdentifiers(withPrefix: prefix) { page in
            found += page
            return found.count < limit
        }
        return found
    }

    /// Calls a closure with the item identifiers that begin with a prefix, in byte order, 1,000 at
    /// a time, until it returns `false`. Blocks until the index answers.
    ///
    /// - Parameter firstPage: The number of identifiers to request first. The index sends as many,
    ///   with or without the prefix, so a caller that expects few should request few.
    package func visitItemIdentifiers(
        withPrefix prefix: String, firstPage: Int = 1000, _ visit: (_ page: ArraySlice<String>) throws -> Bool
    ) throws {
        var pageSize = firstPage
        // The listing starts after this text, so it omits an identifier that equals the prefix.
        var after = prefix
        while true {
            let result = BlockingResult<[String]>()
            fetchItemIdentifiers(after: after, maximumCount: pageSize) { identifiers, error in
                result.give(error.map { .failure($0) } ?? .success(identifiers))
            }
            let page = try result.wait()
            let matching = page.prefix { $0.utf8.starts(with: prefix.utf8) }
            guard try visit(matching), matching.count == page.count, page.count == pageSize, let last = page.last
            else { return }
            after = last
            pageSize = 1000
        }
    }

    /// Returns `true` if the index has an item with this identifier. Blocks until the index
    /// answers.
    package func hasItem(_ identifier: String) throws -> Bool {
        var isFound = false
        try visitItemIdentifiers(withPrefix: String(identifier.unicodeScalars.dropLast()), firstPage: 2) { page in
            isFound = page.contains { $0.utf8.elementsEqual(identifier.utf8) }
            return !isFound && page.last?.utf8.lexicographicallyPrecedes(identifier.utf8) ?? false
        }
        return isFound
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
