// SPDX-License-Identifier: Apache-2.0

/// The donations that are durable but not searchable yet. A read that does not wait omits them.
public struct PendingDonations: Hashable, Sendable, Codable {
    /// The size of the pending donations, in total or of one bundle.
    public struct Amount: Hashable, Sendable, Codable {
        /// The number of donations.
        public var donations = 0
        /// The number of items that the donations add, replace or update.
        public var items = 0
        /// The approximate size of the donations, in bytes.
        public var bytes = 0

        fileprivate mutating func add(_ other: Amount) {
            donations += other.donations
            items += other.items
            bytes += other.bytes
        }
    }
    /// The total of all bundles.
    public var total = Amount()
    /// The amounts for the bundles with the most bytes, at most ``maximumBundles`` bundles.
    public var bundles: [String: Amount] = [:]

    /// The largest number of bundles listed.
    public static let maximumBundles = 8

    /// `true` if all donations are searchable.
    public var isEmpty: Bool { total.donations == 0 }

    package init() {}

    /// Returns the donations that are pending here or in another index.
    package func merging(_ other: PendingDonations?) -> PendingDonations {
        guard let other, !other.isEmpty else { return self }
        var all = self
        all.total.add(other.total)
        var bundles = bundles
        for (bundle, amount) in other.bundles { bundles[bundle, default: Amount()].add(amount) }
        let largest = bundles.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
        all.bundles = Dictionary(largest.prefix(Self.maximumBundles).map { ($0.key, $0.value) }) { first, _ in first }
        return all
    }

    /// This value, or `nil` if all donations are searchable.
    public var nonEmpty: PendingDonations? { isEmpty ? nil : self }
}

/// Specifies which durable donations a read waits for. One app's donations may keep the applier
/// busy for minutes.
public enum ReadPatience: Hashable, Sendable {
    /// Waits for everything, without a time limit.
    case everything
    /// Waits for everything that one bundle donated, without a time limit, so that an app finds its
    /// own donations. They are applied before other donations.
    case own(String)
    /// Waits for a short time (``StoreHooks/ReadLimits``). Donations that are still pending
    /// afterwards are omitted and reported as ``PendingDonations``.
    case moment

    /// The patience of all reads in the current task. Set it when a client request arrives, so that
    /// it applies to the whole request.
    @TaskLocal public static var current = ReadPatience.everything

    /// Runs a request with this patience.
    ///
    /// - Throws: The errors of the request.
    public func during<Value: Sendable, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await Self.$current.withValue(self) {
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

/// The amounts of pending donations, by bundle.
struct PendingTally {
    private(set) var total = PendingDonations.Amount()
    private var bundles: [String: PendingDonations.Amount] = [:]

    /// The largest size of a small donation, in bytes.
    static let smallBytes = 64 << 10
    private var small: [String: Int] = [:]

    /// Returns the pending bytes of a bundle's small donations.
    func smallBytes(of bundle: String) -> Int { small[bundle] ?? 0 }

    /// Returns the pending amount of one bundle.
    func amount(of bundle: String) -> PendingDonations.Amount { bundles[bundle] ?? PendingDonations.Amount() }

    mutating func add(_ entry: PendingEntries.Entry, of bundle: String) {
        Self.change(&total, entry, by: 1)
        Self.change(&bundles[bundle, default: PendingDonations.Amount()], entry, by: 1)
        if entry.bytes <= Self.smallBytes { small[bundle, default: 0] += entry.bytes }
    }

    mutating func remove(_ entry: PendingEntries.Entry, of bundle: String) {
        Self.change(&total, entry, by: -1)
        guard var amount = bundles[bundle] else { return }
        Self.change(&amount, entry, by: -1)
        bundles[bundle] = amount.donations > 0 ? amount : nil
        if entry.bytes <= Self.smallBytes { small[bundle, default: 0] -= entry.bytes }
        if amount.donations == 0 { small[bundle] = nil }
    }

    private static func change(
        _ amount: inout PendingDonations.Amount, _ entry: PendingEntries.Entry, by sign: Int
    ) {
        amount.donations += sign
        amount.items += sign * entry.items
        amount.bytes += sign * entry.bytes
    }

    /// Returns the pending donations of one bundle, with the total of this bundle alone.
    func summary(of bundle: String) -> PendingDonations {
        var summary = PendingDonations()
        summary.total = amount(of: bundle)
        if !summary.isEmpty { summary.bundles = [bundle: summary.total] }
        return summary
    }

    var summary: PendingDonations {
        var summary = PendingDonations()
        summary.total = total
        let largest = bundles.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
        for (bundle, amount) in largest.prefix(PendingDonations.maximumBundles) { summary.bundles[bundle] = amount }
        return summary
    }
}
