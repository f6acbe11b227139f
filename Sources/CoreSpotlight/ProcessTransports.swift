// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// This process's transports to the service, for objects that the process creates.
enum ProcessTransports {
    /// The replacements for the service within a test's task.
    struct Replacement: Sendable {
        var query: (any QueryTransport)?
        var promises: (any PromiseTransport)?
        var index: CSSearchableIndex?
        var currentActivity: CurrentActivity?
    }

    @TaskLocal static var replacement: Replacement?

    /// Returns the transport for queries.
    ///
    /// - Throws: ``CSSearchQueryError/Code/indexUnreachable`` in an extension.
    static func query() throws(CSSearchQueryError) -> any QueryTransport {
        if let query = replacement?.query { return query }
        guard !ProcessSenders.isWorker else {
            throw CSSearchQueryError(
                .indexUnreachable,
                "An extension cannot query the index: it runs in a worker, which may only donate. Query it in the app.")
        }
        return ProcessService.transport
    }

    /// Returns the transport for promise requests.
    ///
    /// - Throws: ``CSIndexError/Code/indexUnavailableError`` in an extension.
    static func promises() throws(CSIndexError) -> any PromiseTransport {
        if let promises = replacement?.promises { return promises }
        guard !ProcessSenders.isWorker else {
            throw CSIndexError(
                .indexUnavailableError,
                "An extension cannot fetch data of items: it runs in a worker, which may only donate. Fetch it in the app."
            )
        }
        return ProcessService.transport
    }

    /// Returns the app's default index.
    static func defaultIndex() -> CSSearchableIndex { replacement?.index ?? .default() }

    static func currentActivity() -> CurrentActivity { replacement?.currentActivity ?? .ofProcess }

    private static let lastNumber = Atomic<UInt64>(0)

    /// Returns a number that identifies one call by this process.
    static func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}
