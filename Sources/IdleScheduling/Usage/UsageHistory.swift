// SPDX-License-Identifier: Apache-2.0

/// The recent usage of each bundle, for the quotas: sums over intervals of five minutes, kept for a
/// day.
///
/// A window includes whole intervals, so it counts slightly more than was used within it, but never
/// less. The size is bounded: one day for each of ``maximumBundles`` bundles; the most recently
/// active bundles are kept.
public struct UsageHistory: Hashable, Sendable, Codable {
    /// The usage within one interval.
    private struct Piece: Hashable, Sendable, Codable {
        /// The number of the interval: its start divided by ``pieceSeconds``.
        var number: Int64
        var usage: Usage
    }

    /// The length of an interval, in seconds.
    public static let pieceSeconds = 300.0
    /// The longest window, in seconds.
    public static let longestWindow = 86400.0
    /// The maximum number of bundles.
    public static let maximumBundles = 512
    /// The maximum length of a bundle name, in bytes. Longer names share one entry without a name.
    public static let maximumNameBytes = 512

    /// The intervals of each bundle, oldest first.
    private var pieces: [String: [Piece]] = [:]

    /// Creates an empty history.
    public init() {}

    /// The known bundles, sorted.
    public var bundles: [String] { pieces.keys.sorted() }

    /// Adds usage to a bundle.
    public mutating func add(_ usage: Usage, of bundle: String, at moment: Double) {
        let usage = usage.sane
        guard usage != Usage() else { return }
        let number = Self.number(moment)
        let name = Self.name(bundle)
        var own = pieces[name] ?? []
        Self.settle(&own, now: number)
        if own.last?.number == number {
            own[own.count - 1].usage += usage
        } else {
            own.append(Piece(number: number, usage: usage))
        }
        pieces[name] = own
        guard pieces.count > Self.maximumBundles else { return }
        let oldest = pieces.min { ($0.value.last?.number ?? 0, $0.key) < ($1.value.last?.number ?? 0, $1.key) }
        if let oldest { pieces[oldest.key] = nil }
    }

    /// Returns the usage of a bundle within the last `window` seconds.
    public func used(by bundle: String, within window: Double, at moment: Double) -> Usage {
        let first = Self.number(moment - min(window, Self.longestWindow))
        return (pieces[Self.name(bundle)] ?? []).reduce(into: Usage()) { sum, piece in
            if piece.number >= first { sum += piece.usage }
        }
    }

    /// Returns the time at which the usage in the window will be low enough; `moment` if it already
    /// is.
    func moment(of bundle: String, within window: Double, after moment: Double, when isEnough: (Usage) -> Bool)
        -> Double
    {
        let window = min(window, Self.longestWindow)
        let first = Self.number(moment - window)
        let counted = (pieces[Self.name(bundle)] ?? []).filter { $0.number >= first }
        for index in 0...counted.count {
            let left = counted[index...].reduce(into: Usage()) { $0 += $1.usage }
            guard isEnough(left) else { continue }
            guard index > 0 else { return moment }
            // An interval leaves the window one window length after the interval's end.
            return Double(counted[index - 1].number + 1) * Self.pieceSeconds + window
        }
        return moment + window
    }

    /// Adjusts the history after the clock was set back. Usage in the future is treated as current.
    public mutating func settle(now moment: Double) {
        let number = Self.number(moment)
        for name in pieces.keys { Self.settle(&pieces[name, default: []], now: number) }
        pieces = pieces.filter { !$0.value.isEmpty }
    }

    /// Moves future intervals to the present, and removes intervals that are too old.
    private static func settle(_ pieces: inout [Piece], now: Int64) {
        if let last = pieces.last, last.number > now {
            let ahead = pieces.filter { $0.number >= now }.reduce(into: Usage()) { $0 += $1.usage }
            pieces.removeAll { $0.number >= now }
            pieces.append(Piece(number: now, usage: ahead))
        }
        let oldest = now - Int64(longestWindow / pieceSeconds)
        if let first = pieces.first, first.number < oldest { pieces.removeAll { $0.number < oldest } }
    }

    /// Returns the number of the interval that contains a moment.
    private static func number(_ moment: Double) -> Int64 {
        moment.isFinite ? Int64((moment / pieceSeconds).rounded(.down).clamped(to: -1e12...1e12)) : 0
    }

    private static func name(_ bundle: String) -> String { bundle.utf8.count <= maximumNameBytes ? bundle : "" }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case bundles }

    /// The usage of a bundle, as it is encoded.
    private struct Record: Codable {
        var bundle: String
        var pieces: [Piece]
    }

    /// Decodes a history. The bounds are enforced for any content.
    public init(from decoder: any Decoder) throws {
        let records = try decoder.container(keyedBy: CodingKeys.self).decode([Record].self, forKey: .bundles)
        for record in records.prefix(Self.maximumBundles) where record.bundle.utf8.count <= Self.maximumNameBytes {
            var sums: [Int64: Usage] = [:]
            for piece in record.pieces where (-1_000_000_000_000...1_000_000_000_000).contains(piece.number) {
                sums[piece.number, default: Usage()] += piece.usage.sane
            }
            var own = sums.map { Piece(number: $0.key, usage: $0.value) }.sorted { $0.number < $1.number }
            if let last = own.last { Self.settle(&own, now: last.number) }
            if !own.isEmpty { pieces[record.bundle] = own }
        }
    }

    /// Encodes the history, with bundles sorted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let records = bundles.map { Record(bundle: $0, pieces: pieces[$0] ?? []) }
        try container.encode(records, forKey: .bundles)
    }
}

extension Usage {
    /// The usage, with impossible values replaced.
    var sane: Usage {
        Usage(cpu: cpu.isFinite ? cpu.clamped(to: 0...1e9) : 0, written: written, wakeUps: wakeUps)
    }
}

extension Comparable {
    /// Returns the nearest value within a range.
    package func clamped(to range: ClosedRange<Self>) -> Self { min(max(self, range.lowerBound), range.upperBound) }
}
