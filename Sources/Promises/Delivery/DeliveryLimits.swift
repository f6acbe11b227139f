// SPDX-License-Identifier: Apache-2.0

/// How long a delivery may take. A provider or a receiver that keeps neither limit ends it with an error.
public struct DeliveryLimits: Hashable, Sendable {
    /// Without a byte given or taken, the provider or the receiver has stalled: the design's "no progress 10 s".
    public static let standardStall = Duration.seconds(10)
    /// For a stream as a whole, so that one byte now and then does not keep a delivery alive for ever.
    public static let standardTotal = Duration.seconds(600)

    /// The longest wait for the next byte to be given or taken.
    public var stall: Duration
    /// The longest a delivery from or to a stream may take; copying a file to a file is only bound by its size.
    public var total: Duration

    /// Creates limits; without arguments the standard ones.
    public init(stall: Duration = Self.standardStall, total: Duration = Self.standardTotal) {
        self.stall = stall
        self.total = total
    }
}

/// The limits of one delivery, counted from its beginning.
struct Pace {
    let limits: DeliveryLimits
    let control: DeliveryControl?
    private let deadline: ContinuousClock.Instant?

    /// - Parameter isBounded: Whether the limit for the whole delivery holds.
    init(_ limits: DeliveryLimits, control: DeliveryControl? = nil, isBounded: Bool = true) {
        self.limits = limits
        self.control = control
        deadline = isBounded ? ContinuousClock.now + limits.total : nil
    }

    /// Goes on only if nobody has ended the delivery.
    func checkCancelled() throws(PromiseError) {
        if control?.isCancelled == true { throw .cancelled }
    }

    /// What is left of the whole, `nil` without such a limit.
    var remaining: Duration? { deadline.map { ContinuousClock.now.duration(to: $0) } }
    /// Whether the whole has taken too long.
    var isOver: Bool { remaining.map { $0 <= .zero } ?? false }

    /// How long the next wait may be, in milliseconds as `poll` takes them, at least 1; and whether it ends with the
    /// whole, rather than because nothing moves.
    var patience: (milliseconds: Int32, isTheLast: Bool) {
        let remaining = remaining
        let isTheLast = remaining.map { $0 < limits.stall } ?? false
        let wait = isTheLast ? remaining ?? limits.stall : limits.stall
        let milliseconds = wait.components.seconds * 1000 + wait.components.attoseconds / 1_000_000_000_000_000
        return (Int32(clamping: max(1, milliseconds)), isTheLast)
    }
}
