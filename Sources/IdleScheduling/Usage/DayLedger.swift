// SPDX-License-Identifier: Apache-2.0

/// The daily costs and results of each extension, for users who want to know which extension uses
/// the machine.
///
/// Days are numbers supplied by the caller (days since 2001-01-01 in its calendar), without time
/// zones. The size is bounded: the last ``daysKept`` active days of each of ``maximumBundles``
/// bundles are kept.
public struct DayLedger: Hashable, Sendable, Codable {
    /// One day of one bundle.
    public struct Entry: Hashable, Sendable, Codable {
        /// The number of the day.
        public var day: Int
        /// The usage on that day.
        public var usage = Usage()
        /// The number of items that were donated, changed or deleted.
        public var items = 0
        /// The number of failed jobs.
        public var failures = 0
        /// The number of started jobs.
        public var runs = 0

        /// Creates a day without activity.
        public init(day: Int) { self.day = day }
    }

    /// The number of days that are kept per bundle.
    public static let daysKept = 35
    /// The maximum number of bundles. The most recently active bundles are kept.
    public static let maximumBundles = 512
    /// The maximum length of a bundle name, in bytes. Longer names share one entry without a name.
    public static let maximumNameBytes = 512

    /// The days of each bundle, oldest first.
    private var days: [String: [Entry]] = [:]

    /// Creates an empty ledger.
    public init() {}

    /// The known bundles, sorted.
    public var bundles: [String] { days.keys.sorted() }

    /// Returns the days of a bundle, oldest first. Days without activity are missing.
    public func entries(of bundle: String) -> [Entry] { days[Self.name(bundle)] ?? [] }

    /// Adds to a day of a bundle. Negative counts are ignored. Removes days that are more than one
    /// day later, because the clock was set back. (One day ahead is possible after a time zone
    /// change.)
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

    /// Removes a bundle.
    public mutating func remove(bundle: String) { days[Self.name(bundle)] = nil }

    private static func name(_ bundle: String) -> String { bundle.utf8.count <= maximumNameBytes ? bundle : "" }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case bundles }

    private struct Record: Codable {
        var bundle: String
        var days: [Entry]
    }

    /// Decodes a ledger. The bounds are enforced for any content.
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

    /// Encodes the ledger, with bundles sorted.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(bundles.map { Record(bundle: $0, days: days[$0] ?? []) }, forKey: .bundles)
    }
}

extension Int {
    /// Adds a number, ignoring negative numbers. Saturates at the largest number.
    fileprivate mutating func addClamped(_ other: Int) {
        let (sum, overflow) = Swift.max(0, self).addingReportingOverflow(Swift.max(0, other))
        self = overflow ? .max : sum
    }
}
