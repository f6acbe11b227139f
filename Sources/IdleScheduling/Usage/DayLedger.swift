// SPDX-License-Identifier: Apache-2.0

/// What each extension cost and did, day by day: for a person who wants to know who eats the machine.
///
/// Days are numbers that the caller gives (days since 2001-01-01 in its calendar); no time zones here. Bounded: the last
/// ``daysKept`` days that a bundle did something, of ``maximumBundles`` bundles.
public struct DayLedger: Hashable, Sendable, Codable {
    /// One day of one bundle.
    public struct Entry: Hashable, Sendable, Codable {
        /// Which day.
        public var day: Int
        /// What it has used.
        public var usage = Usage()
        /// How many items it donated, changed or deleted.
        public var items = 0
        /// How many jobs failed.
        public var failures = 0
        /// How many jobs were begun.
        public var runs = 0

        /// Creates a day on which nothing happened.
        public init(day: Int) { self.day = day }
    }

    /// So many days of a bundle are kept.
    public static let daysKept = 35
    /// So many bundles are remembered; those that did something last.
    public static let maximumBundles = 512
    /// The longest name of a bundle, in bytes; others count as one, without a name.
    public static let maximumNameBytes = 512

    /// The days of each bundle, the oldest first.
    private var days: [String: [Entry]] = [:]

    /// Creates an empty ledger.
    public init() {}

    /// The bundles of which anything is known, sorted.
    public var bundles: [String] { days.keys.sorted() }

    /// The days of a bundle, the oldest first; those on which nothing happened are missing.
    public func entries(of bundle: String) -> [Entry] { days[Self.name(bundle)] ?? [] }

    /// Adds to a day of a bundle. Days after it but one are forgotten: the clock was set back. (One may be ahead when somebody
    /// travels.) Negative counts are none.
    public mutating func add(
        _ usage: Usage = Usage(), items: Int = 0, failures: Int = 0, runs: Int = 0, of bundle: String, day: Int
    ) {
        let name = Self.name(bundle)
        let day = day.clamped(to: -1_000_000_000...1_000_000_000)
        var own = days[name] ?? []
        own.removeAll { $0.day > day + 1 }
        let index = own.firstIndex { $0.day >= day } ?? own.endIndex
        if index == own.endIndex || own[index].day != day { own.insert(Entry(day: day), at: index) }
        own[index].usage += usage.sane
        own[index].items.addClamped(items)
        own[index].failures.addClamped(failures)
        own[index].runs.addClamped(runs)
        own.removeFirst(max(0, own.count - Self.daysKept))
        days[name] = own
        guard days.count > Self.maximumBundles else { return }
        let others = days.filter { $0.key != name }
        let oldest = others.min { ($0.value.last?.day ?? 0, $0.key) < ($1.value.last?.day ?? 0, $1.key) }
        if let oldest { days[oldest.key] = nil }
    }

    /// Forgets a bundle.
    public mutating func remove(bundle: String) { days[Self.name(bundle)] = nil }

    private static func name(_ bundle: String) -> String { bundle.utf8.count <= maximumNameBytes ? bundle : "" }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case bundles }

    private struct Record: Codable {
        var bundle: String
        var days: [Entry]
    }

    /// Reads a ledger; whatever the file holds, the bounds are kept.
    public init(from decoder: any Decoder) throws {
        let records = try decoder.container(keyedBy: CodingKeys.self).decode([Record].self, forKey: .bundles)
        for record in records.prefix(Self.maximumBundles) {
            for entry in record.days.sorted(by: { $0.day < $1.day }).suffix(Self.daysKept) {
                add(
                    entry.usage, items: entry.items, failures: entry.failures, runs: entry.runs, of: record.bundle,
                    day: entry.day)
            }
        }
    }

    /// Writes the ledger, the bundles sorted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(bundles.map { Record(bundle: $0, days: days[$0] ?? []) }, forKey: .bundles)
    }
}

extension Int {
    /// Adds what is not negative, and stays at the largest number.
    fileprivate mutating func addClamped(_ other: Int) {
        let (sum, overflow) = Swift.max(0, self).addingReportingOverflow(Swift.max(0, other))
        self = overflow ? .max : sum
    }
}
