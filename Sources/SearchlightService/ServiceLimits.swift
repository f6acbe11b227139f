// SPDX-License-Identifier: Apache-2.0

/// The limits of a service, apart from the limits of messages (``BusConnection``) and of waiting
/// donations (``DonationIntake``).
package struct ServiceLimits: Sendable {
    /// The maximum number of connections at a time. A desktop has several dozen apps.
    package var connections = 128
    /// The maximum number of clients on the session bus at a time.
    package var busClients = 128
    /// The time limit for a client's first call.
    package var helloTime: Duration = .seconds(10)
    /// The maximum number of queries in progress on one connection.
    package var queries = 16
    /// The maximum size in bytes of the donations in flight on all connections.
    package var heldBytes = 256 << 20
    /// The maximum number of filters in a query.
    package var filters = 16
    /// The maximum number of attributes in a query.
    package var attributes = 1024
    /// The maximum number of items on a page.
    package var pageItems = 1000
    /// The size in bytes after which a page ends. A single larger record is a page of its own.
    package var pageBytes = 1 << 20
    /// The maximum number of hits of a search on all its pages, since its cursor holds each of
    /// them.
    package var searchHits = 50_000
    /// The maximum number of requests that wait for a repair of the store.
    package var waitingForRepair = 512
    /// The longest time that a request waits for a repair.
    package var repairTime: Duration = .seconds(120)
    /// The delay before a store that could not be opened is tried again for the next request.
    package var reopenPause: Duration = .seconds(1)
    /// The time that a socket-activated service waits for a store in use. Together with the restart
    /// delay it keeps the number of starts below the unit's start limit.
    package var startTime: Duration = .seconds(15)
    /// The time that a repair of the store waits for requests in progress.
    package var drainTime: Duration = .seconds(30)
    /// The time that a stop of the service waits for requests in progress.
    package var stopTime: Duration = .seconds(5)
}
