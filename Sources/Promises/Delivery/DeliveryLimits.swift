// SPDX-License-Identifier: Apache-2.0

/// The time limits for a delivery. They apply to the provider. The receiver belongs to the user, so
/// the delivery waits for it as long as it exists.
public struct DeliveryLimits: Hashable, Sendable {
    /// The standard time without a new byte after which the provider counts as stalled.
    public static let standardStall = Duration.seconds(10)
    /// The standard total time for a stream. It ends a delivery that only occasionally receives a
    /// byte.
    public static let standardTotal = Duration.seconds(600)
    /// The standard time to wait until the reader of a named pipe opens it. The caller starts the
    /// reader at about the same time as the delivery.
    public static let standardOpening = Duration.seconds(10)
    /// The standard patience. It is far below the 30 s for which a host keeps an idle worker, whose
    /// exit closes the stream.
    public static let standardPatience = Duration.seconds(5)

    /// The maximum wait for the provider's next byte.
    public var stall: Duration
    /// The maximum total time that a provider may take for a stream. The receiver's time does not
    /// count. The copying of a file is only bounded by its size.
    public var total: Duration
    /// The maximum wait for a process to open a named pipe for reading, or to accept connections on
    /// a socket.
    public var opening: Duration
    /// The maximum total time for which a receiver may block a provider. After that, the rest of
    /// the provider's bytes is written to an unnamed file, from which the receiver reads at its own
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

/// A provider's deadlines in one delivery, measured from its start.
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
