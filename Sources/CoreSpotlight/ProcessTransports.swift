// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The ways from this process to the service, for objects that the process makes itself.
enum ProcessTransports {
    /// What a test puts in the place of the service, for what its task does.
    struct Replacement: Sendable {
        var query: (any QueryTransport)?
        var promises: (any PromiseTransport)?
        var index: CSSearchableIndex?
        var currentActivity: CurrentActivity?
    }

    @TaskLocal static var replacement: Replacement?

    /// The way for queries.
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

    /// The way for promises.
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

    /// The default index of the app.
    static func defaultIndex() -> CSSearchableIndex { replacement?.index ?? .default() }

    static func currentActivity() -> CurrentActivity { replacement?.currentActivity ?? .ofProcess }

    private static let lastNumber = Atomic<UInt64>(0)

    /// A number that names one call of this process.
    static func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}
