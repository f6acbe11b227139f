// SPDX-License-Identifier: Apache-2.0

/// What bounds a service. Every bound has its place here, but for those of messages (``BusConnection``) and of donations
/// that wait (``DonationIntake``).
public struct ServiceLimits: Sendable {
    /// The most connections at a time; a desktop has a few dozen apps.
    public var connections = 128
    /// The most senders on the session bus that are spoken with at a time.
    public var busClients = 128
    /// How long a client may take to say who it is.
    public var helloTime: Duration = .seconds(10)
    /// The most queries of one connection under way.
    public var queries = 16
    /// The most bytes of donations that wait or are being kept, of all connections together.
    public var heldBytes = 256 << 20
    /// The most filters of a query.
    public var filters = 16
    /// The most attributes that a query may ask for.
    public var attributes = 1024
    /// The most items of a page.
    public var pageItems = 1000
    /// A page ends once its records have so many bytes; a single larger record is a page of its own.
    public var pageBytes = 1 << 20
    /// The most items that a search gives over all its pages: its cursor names each.
    public var searchHits = 50_000
    /// The most requests that wait during a repair of the store.
    public var waitingForRepair = 512
    /// The longest that each of them waits.
    public var repairTime: Duration = .seconds(120)
    /// How long a store that could not be opened again is let be before who asks next has that tried once more.
    public var reopenPause: Duration = .seconds(1)
    /// How long a service that was started through its socket waits for a store that is in use. With the pause before it is
    /// started again fewer tries than the unit's limit of starts.
    public var startTime: Duration = .seconds(15)
    /// How long requests in progress may take to end before a repair of the store.
    public var drainTime: Duration = .seconds(30)
    /// How long requests under way may take to end at a stop.
    public var stopTime: Duration = .seconds(5)

    /// The standard bounds.
    public init() {}
}
