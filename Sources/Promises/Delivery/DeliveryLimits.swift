// SPDX-License-Identifier: Apache-2.0

/// The time limits of a delivery. They apply to the provider. The receiver belongs to the user and
/// is waited for as long as it exists.
public struct DeliveryLimits: Hashable, Sendable {
    /// The standard time without a byte after which the provider has stalled.
    public static let standardStall = Duration.seconds(10)
    /// The standard total time of a stream. It ends a delivery that only gets a byte now and then.
    public static let standardTotal = Duration.seconds(600)
    /// The standard time to wait until the reader of a named pipe opens it. The caller starts the
    /// reader at about the same time as the delivery.
    public static let standardOpening = Duration.seconds(10)
    /// The standard patience. It is far below the 30 s for which a host keeps an idle worker, whose
    /// end closes the stream.
    public static let standardPatience = Duration.seconds(5)

    /// The longest wait for the provider's next byte.
    public var stall: Duration
    /// The longest total time of a provider for a stream. The receiver's time does not count. The
    /// copy of a file is only bounded by its size.
    public var total: Duration
    /// The longest wait for a process to open a named pipe for reading, or to serve a socket.
    public var opening: Duration
    /// The longest total time for which a receiver may block a provider. After that, the rest of
    /// the provider's bytes goes to an unnamed file, from which the receiver gets it at its own
    /// pace.
    public var patience: Duration

    /// Creates limits with the standard values by default.
    public init(
        stall: Duration = Self.standardStall, total: Duration = Self.standardTotal,
        opening: Duration = Self.standardOpening, patience: Duration = Self.standardPatience
    ) {
        self.stall = stall
        self.total = total
        self.opening = opening
        self.patience = patience
    }
}

/// The deadlines of a provider in one delivery, counted from its start.
struct Pace {
    let limits: DeliveryLimits
    let control: DeliveryControl?
    /// Returns the current time.
    let now: @Sendable () -> ContinuousClock.Instant
    private var deadline: ContinuousClock.Instant?

    /// Starts the deadlines.
    ///
    /// - Parameter isBounded: `true` if the total limit applies.
    init(
        _ limits: DeliveryLimits, control: DeliveryControl? = nil, isBounded: Bool = true,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.control = control
        self.now = now
        deadline = isBounded ? now() + limits.total : nil
    }

    /// Throws if the delivery was cancelled.
    func checkCancelled() throws(PromiseError) {
        if control?.isCancelled == true { throw .cancelled }
    }

    /// Runs a closure whose time does not count towards the provider's limits.
    mutating func whileProviderRests<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let start = now()
        try body()
        let rest = start.duration(to: now())
        deadline? += rest
    }

    /// `true` if the total limit is exceeded.
    var isOver: Bool { deadline.map { now() >= $0 } ?? false }

    /// The deadline of the next wait: the stall limit or the total limit, whichever is earlier.
    var nextDeadline: ContinuousClock.Instant {
        let stalled = now() + limits.stall
        return deadline.map { min($0, stalled) } ?? stalled
    }

    /// Returns a duration in milliseconds for `poll`, rounded up so that the deadline is not
    /// missed.
    static func milliseconds(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return seconds < 0 ? 0 : .max }
        let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, whole.addingReportingOverflow(milliseconds).partialValue))
    }
}
