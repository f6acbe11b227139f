// SPDX-License-Identifier: Apache-2.0

/// How long a delivery may take. The provider has to hurry; who receives is the person's own, and is waited for as long as
/// somebody is there.
public struct DeliveryLimits: Hashable, Sendable {
    /// Without a byte given, the provider has stalled: the design's "no progress 10 s".
    public static let standardStall = Duration.seconds(10)
    /// For a stream as a whole, so that one byte now and then does not keep a delivery alive for ever.
    public static let standardTotal = Duration.seconds(600)
    /// As for a provider: whoever names a pipe has its reader started, or is about to.
    public static let standardOpening = Duration.seconds(10)
    /// Well below the 30 s for which a host keeps a worker that is asked nothing, and whose stream ends with it.
    public static let standardPatience = Duration.seconds(5)

    /// The longest wait for the provider's next byte.
    public var stall: Duration
    /// The longest a provider may take for a stream. What the receiver takes does not count; copying a file is only bound by
    /// its size.
    public var total: Duration
    /// The longest wait for somebody to open a named pipe for reading, or to serve a socket.
    public var opening: Duration
    /// How long in all a receiver may keep a provider waiting. The rest of what that gives is put into a file without a name
    /// then, from which the receiver gets it at its own pace.
    public var patience: Duration

    /// Creates limits; without arguments the standard ones.
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

/// The limits of a provider in one delivery, counted from its beginning.
struct Pace {
    let limits: DeliveryLimits
    let control: DeliveryControl?
    /// What time it is.
    let now: @Sendable () -> ContinuousClock.Instant
    private var deadline: ContinuousClock.Instant?

    /// - Parameter isBounded: Whether the limit for the whole delivery holds.
    init(
        _ limits: DeliveryLimits, control: DeliveryControl? = nil, isBounded: Bool = true,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.control = control
        self.now = now
        deadline = isBounded ? now() + limits.total : nil
    }

    /// Goes on only if nobody has ended the delivery.
    func checkCancelled() throws(PromiseError) {
        if control?.isCancelled == true { throw .cancelled }
    }

    /// Does something that is not the provider's to hurry with.
    mutating func whileProviderRests<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let start = now()
        try body()
        let rest = start.duration(to: now())
        deadline? += rest
    }

    /// Whether the whole has taken too long.
    var isOver: Bool { deadline.map { now() >= $0 } ?? false }

    /// When the next wait ends: because nothing moves, or with the whole.
    var nextDeadline: ContinuousClock.Instant {
        let stalled = now() + limits.stall
        return deadline.map { min($0, stalled) } ?? stalled
    }

    /// How long to wait for the provider, in milliseconds as `poll` takes them: rounded up, so that the end is not missed.
    static func milliseconds(_ duration: Duration) -> Int32 {
        let (seconds, attoseconds) = duration.components
        let (whole, overflows) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflows else { return seconds < 0 ? 0 : .max }
        let milliseconds = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(clamping: max(0, whole.addingReportingOverflow(milliseconds).partialValue))
    }
}
