// SPDX-License-Identifier: Apache-2.0

/// A service's limits, except for the limits on messages (``BusConnection``) and on waiting
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
    /// The maximum total size of the donations in flight on all connections, in bytes.
    package var heldBytes = 256 << 20
    /// The maximum number of filters in a query.
    package var filters = 16
    /// The maximum number of attributes in a query.
    package var attributes = 1024
    /// The maximum number of items on a page.
    package var pageItems = 1000
    /// The size in bytes after which a page ends. A larger single record gets its own page.
    package var pageBytes = 1 << 20
    /// The maximum number of hits on all pages of a search, since its cursor contains each of them.
    package var searchHits = 50_000
    /// The maximum number of requests that wait for a repair of the store.
    package var waitingForRepair = 512
    /// The longest time that a request waits for a repair.
    package var repairTime: Duration = .seconds(120)
    /// The delay after a failed attempt to open the store before the next request may try again.
    package var reopenPause: Duration = .seconds(1)
    /// The time for which a socket-activated service waits for a store that is in use. Together
    /// with the restart delay it keeps the number of starts below the unit's start limit.
    package var startTime: Duration = .seconds(15)
    /// The time for which a repair of the store waits for requests in progress.
    package var drainTime: Duration = .seconds(30)
    /// The time for which a shutdown of the service waits for requests in progress.
    package var stopTime: Duration = .seconds(5)
}
