// SPDX-License-Identifier: Apache-2.0
import ServiceMessages

/// The content that an extension did not index, with the reasons.
struct Omissions: Hashable, Codable {
    /// The reason for each stored name.
    private(set) var reasons: [String: String] = [:]
    /// The number of omissions by reason, including those whose names are not stored.
    private(set) var counts: [String: Int] = [:]
    /// An upper bound for the size of the stored names and reasons in the file, in bytes.
    private var bytes = 0

    private enum CodingKeys: CodingKey { case reasons, counts }

    /// The maximum number of names stored for a bundle, their maximum size in the file in bytes,
    /// and the maximum number of reasons.
    static let maximumNames = 2000
    static let maximumBytes = 128 << 10
    static let maximumReasons = 50
    private static let otherReasons = "other reasons"

    init() {}

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        reasons = try container.decode([String: String].self, forKey: .reasons)
        counts = try container.decode([String: Int].self, forKey: .counts)
        bytes = reasons.reduce(0) { $0 + Self.size($1.key, $1.value) }
    }

    var isEmpty: Bool { counts.isEmpty }

    mutating func add(_ what: LeftOut) { add(what.name, what.reason) }

    private mutating func add(_ name: String, _ reason: String) {
        remove([name])
        let reason = count(1, reason)
        let size = Self.size(name, reason)
        guard hasRoom(size) else { return }
        reasons[name] = reason
        bytes += size
    }

    /// Returns `true` if another name that needs `size` bytes in the file can be stored.
    private func hasRoom(_ size: Int) -> Bool {
        reasons.count < Self.maximumNames && bytes + size <= Self.maximumBytes
    }

    /// Adds the omissions whose names can be stored, for a request that may be repeated. The next
    /// request could not remove the other omissions.
    mutating func addNamed(_ others: Omissions) {
        for (name, reason) in others.reasons where hasRoom(Self.size(name, reason)) { add(name, reason) }
    }

    /// Adds to the count of a reason.
    ///
    /// - Returns: The reason, or a collective reason if there are too many.
    @discardableResult
    private mutating func count(_ number: Int, _ reason: String) -> String {
        let isKept = counts[reason] != nil || counts.count < Self.maximumReasons
        let reason = isKept ? reason : Self.otherReasons
        counts[reason, default: 0] += number
        return reason
    }

    mutating func add(_ others: Omissions) {
        for (name, reason) in others.reasons { add(name, reason) }
        for (reason, number) in others.unnamed { count(number, reason) }
    }

    /// Removes the omissions with these names.
    mutating func remove(_ names: some Sequence<String>) {
        for name in names {
            guard let reason = reasons.removeValue(forKey: name), let count = counts[reason] else { continue }
            bytes -= Self.size(name, reason)
            counts[reason] = count > 1 ? count - 1 : nil
        }
    }

    /// The number of omissions by reason whose names are not stored.
    private var unnamed: [String: Int] {
        var rest = counts
        for reason in reasons.values { rest[reason, default: 0] -= 1 }
        return rest.filter { $0.value != 0 }
    }

    /// Returns the maximum size of a name with its reason in the file: an escaped byte takes six
    /// characters.
    private static func size(_ name: String, _ reason: String) -> Int {
        [name.utf8, reason.utf8].joined().reduce(8) { size, byte in
            let isPlain = byte >= 0x20 && ![UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/")].contains(byte)
            return size + (isPlain ? 1 : byte < 0x20 ? 6 : 2)
        }
    }

    /// `true` if the values are within the bounds, like in every file that this type wrote.
    var isBounded: Bool {
        reasons.count <= Self.maximumNames && bytes <= Self.maximumBytes
            && counts.count <= Self.maximumReasons + 1
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
