// SPDX-License-Identifier: Apache-2.0

/// Donations that are durable and cannot be found yet: what a read that did not wait for them leaves out.
public struct PendingDonations: Hashable, Sendable, Codable {
    /// How much is pending, in all or of one bundle.
    public struct Amount: Hashable, Sendable, Codable {
        /// The donations.
        public var donations = 0
        /// The items that they add, replace or update.
        public var items = 0
        /// About how many bytes they have.
        public var bytes = 0
    }
    /// All of it.
    public var total = Amount()
    /// The bundles with the most bytes, at most ``maximumBundles``; an amount for each.
    public var bundles: [String: Amount] = [:]

    /// The most bundles that are named.
    public static let maximumBundles = 8

    /// Whether everything can be found.
    public var isEmpty: Bool { total.donations == 0 }

    /// The same; `nil` where everything can be found.
    public var nonEmpty: PendingDonations? { isEmpty ? nil : self }
}

/// How much of what is durable a read waits for. The applier may be busy for minutes with what one app donates.
public enum ReadPatience: Hashable, Sendable {
    /// Everything, however long that takes.
    case everything
    /// Everything that one bundle donated, however long that takes, and nothing else: an app finds what it donated. What
    /// the bundle donated is applied before what others did.
    case own(String)
    /// A moment (``StoreSeams/ReadLimits``). What cannot be found then is left out, and reported as ``PendingDonations``.
    case moment

    /// How the reads of the current task wait. Set where a client's request enters, so that it holds for all reads of the
    /// request.
    @TaskLocal public static var current = ReadPatience.everything

    /// Carries out a request with a patience.
    ///
    /// - Throws: What the request throws.
    public func during<Value: Sendable, Failure: Error>(
        _ body: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await Self.$current.withValue(self) {
            do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

/// Counts what is pending, by bundle.
struct PendingTally {
    private(set) var total = PendingDonations.Amount()
    private var bundles: [String: PendingDonations.Amount] = [:]

    /// Donations of up to so many bytes are small.
    static let smallBytes = 64 << 10
    private var small: [String: Int] = [:]

    /// How many bytes of small donations are pending of one bundle.
    func smallBytes(of bundle: String) -> Int { small[bundle] ?? 0 }

    /// How much is pending of one bundle.
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

    var summary: PendingDonations {
        var summary = PendingDonations()
        summary.total = total
        let largest = bundles.sorted { ($1.value.bytes, $0.key) < ($0.value.bytes, $1.key) }
        for (bundle, amount) in largest.prefix(PendingDonations.maximumBundles) { summary.bundles[bundle] = amount }
        return summary
    }
}
