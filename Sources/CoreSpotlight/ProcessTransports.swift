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
    /// - Throws: ``CSSearchQueryError/Code/indexUnreachable`` when there is none.
    static func query() throws(CSSearchQueryError) -> any QueryTransport {
        if let query = replacement?.query { return query }
        throw CSSearchQueryError(
            .indexUnreachable,
            "The index of this app cannot be queried: this process cannot connect to the Searchlight service yet. "
                + "Search with the command searchlight instead.")
    }

    /// The way for promises.
    ///
    /// - Throws: ``CSIndexError/Code/indexUnavailableError`` when there is none.
    static func promises() throws(CSIndexError) -> any PromiseTransport {
        if let promises = replacement?.promises { return promises }
        throw CSIndexError(
            .indexUnavailableError,
            "Items of other apps cannot be asked for: this process cannot connect to the Searchlight service yet. Use "
                + "the command searchlight drag instead.")
    }

    /// The default index of the app.
    static func defaultIndex() -> CSSearchableIndex { replacement?.index ?? .default() }

    static func currentActivity() -> CurrentActivity { replacement?.currentActivity ?? .ofProcess }

    private static let lastNumber = Atomic<UInt64>(0)

    /// A number that names one call of this process.
    static func nextNumber() -> UInt64 { lastNumber.add(1, ordering: .relaxed).newValue }
}
