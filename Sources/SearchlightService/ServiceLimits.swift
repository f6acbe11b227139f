// SPDX-License-Identifier: Apache-2.0

/// What bounds a service. Every bound has its place here, but for those of messages (``BusConnection``) and of donations
/// that wait (``DonationIntake``).
package struct ServiceLimits: Sendable {
    /// The most connections at a time; a desktop has a few dozen apps.
    package var connections = 128
    /// The most senders on the session bus that are spoken with at a time.
    package var busClients = 128
    /// How long a client may take to say who it is.
    package var helloTime: Duration = .seconds(10)
    /// The most queries of one connection under way.
    package var queries = 16
    /// The most bytes of donations that wait or are being kept, of all connections together.
    package var heldBytes = 256 << 20
    /// The most filters of a query.
    package var filters = 16
    /// The most attributes that a query may ask for.
    package var attributes = 1024
    /// The most items of a page.
    package var pageItems = 1000
    /// A page ends once its records have so many bytes; a single larger record is a page of its own.
    package var pageBytes = 1 << 20
    /// The most items that a search gives over all its pages: its cursor names each.
    package var searchHits = 50_000
    /// The most requests that wait during a repair of the store.
    package var waitingForRepair = 512
    /// The longest that each of them waits.
    package var repairTime: Duration = .seconds(120)
    /// How long a store that could not be opened again is let be before who asks next has that tried once more.
    package var reopenPause: Duration = .seconds(1)
    /// How long a service that was started through its socket waits for a store that is in use. With the pause before it is
    /// started again fewer tries than the unit's limit of starts.
    package var startTime: Duration = .seconds(15)
    /// How long requests in progress may take to end before a repair of the store.
    package var drainTime: Duration = .seconds(30)
    /// How long requests under way may take to end at a stop.
    package var stopTime: Duration = .seconds(5)
}
