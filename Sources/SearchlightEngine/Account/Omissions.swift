// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// The content that an extension left out of the index, with the reasons.
struct Omissions: Hashable, Codable {
    /// The reason of each name.
    private(set) var reasons: [String: String] = [:]
    /// The number of names with each reason, including names that are not stored.
    private(set) var counts: [String: Int] = [:]

    /// The maximum number of stored names of a bundle.
    static let maximumNames = 2000
    /// The maximum number of reasons of a bundle.
    static let maximumReasons = 50
    private static let otherReasons = "other reasons"

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ what: LeftOut) { add(what.name, what.reason) }

    private mutating func add(_ name: String, _ reason: String) {
        let isKept = counts[reason] != nil || counts.count < Self.maximumReasons
        let reason = isKept ? reason : Self.otherReasons
        remove([name])
        if reasons.count < Self.maximumNames { reasons[name] = reason }
        counts[reason, default: 0] += 1
    }

    mutating func add(_ others: Omissions) {
        for (name, reason) in others.reasons { add(name, reason) }
        for (reason, count) in others.unnamed {
            counts[counts[reason] == nil ? Self.otherReasons : reason, default: 0] += count
        }
    }

    /// Removes some names.
    mutating func remove(_ names: some Sequence<String>) {
        for name in names {
            guard let reason = reasons.removeValue(forKey: name), let count = counts[reason] else { continue }
            counts[reason] = count > 1 ? count - 1 : nil
        }
    }

    /// The number of names with each reason that are not stored.
    private var unnamed: [String: Int] {
        var rest = counts
        for reason in reasons.values { rest[reason, default: 0] -= 1 }
        return rest.filter { $0.value != 0 }
    }

    /// `true` if the value is within the limits. A damaged file may contain any value.
    var isBounded: Bool {
        reasons.count <= Self.maximumNames && counts.count <= Self.maximumReasons + 1
            && counts.values.allSatisfy { (0..<1 << 40).contains($0) } && unnamed.values.allSatisfy { $0 > 0 }
    }

    /// The omissions by reason, the most frequent reason first.
    var summary: [BundleAccount.LeftOut] {
        let names = Dictionary(grouping: reasons.keys) { reasons[$0] ?? "" }
        return counts.map { reason, count in
            BundleAccount.LeftOut(
                reason: reason, count: count,
                examples: Array((names[reason] ?? []).sorted().prefix(BundleAccount.maximumExamples)))
        }.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }
}
