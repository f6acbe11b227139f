// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// What an extension left out of the index, and why.
struct Omissions: Hashable, Codable {
    /// The reasons, by the names.
    private(set) var reasons: [String: String] = [:]
    /// How many have each reason, those among them whose names are not kept.
    private(set) var counts: [String: Int] = [:]

    /// The most names that are kept of a bundle, and the most reasons.
    static let maximumNames = 2000
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

    /// Drops what was said of these.
    mutating func remove(_ names: some Sequence<String>) {
        for name in names {
            guard let reason = reasons.removeValue(forKey: name), let count = counts[reason] else { continue }
            counts[reason] = count > 1 ? count - 1 : nil
        }
    }

    /// How many have each reason and no name here.
    private var unnamed: [String: Int] {
        var rest = counts
        for reason in reasons.values { rest[reason, default: 0] -= 1 }
        return rest.filter { $0.value != 0 }
    }

    /// Whether it is one that can have been written, whatever a file says.
    var isBounded: Bool {
        reasons.count <= Self.maximumNames && counts.count <= Self.maximumReasons + 1
            && counts.values.allSatisfy { (0..<1 << 40).contains($0) } && unnamed.values.allSatisfy { $0 > 0 }
    }

    /// By reason, the most frequent first.
    var summary: [BundleAccount.LeftOut] {
        let names = Dictionary(grouping: reasons.keys) { reasons[$0] ?? "" }
        return counts.map { reason, count in
            BundleAccount.LeftOut(
                reason: reason, count: count,
                examples: Array((names[reason] ?? []).sorted().prefix(BundleAccount.maximumExamples)))
        }.sorted { ($1.count, $0.reason) < ($0.count, $1.reason) }
    }
}
