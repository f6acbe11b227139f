// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ItemRecord

extension CheckContext {
    /// Reindexes twice in one process and once in another, and compares the items.
    func checkReindexTwice() async throws(ExtensionError) -> CheckResult {
        guard survey.isServed else { return .skipped(reason: "it serves no reindex") }
        // Simulates an item that was donated earlier and no longer exists.
        var generator = generator
        var leftover = survey.items.min { $0.key < $1.key }
        let unused = generator.unusedName()
        leftover?.key.identifier = unused
        leftover?.value.uniqueIdentifier = unused
        let old = leftover.map { [$0.key: $0.value] } ?? [:]
        typealias Seen = (first: [DonationCollector.Name: ItemRecord], second: [DonationCollector.Name: ItemRecord])
        let (seen, stays) = try await withTrial(leftover: old) { (trial) throws(ExtensionError) -> (Seen, Bool) in
            // In a paged reindex, the host deletes the items that no page donated.
            let extent = try await trial.reindexEverything()
            let stays = !extent.isPaged && old.keys.contains { trial.items.stillKnows($0) }
            let first = trial.items.items
            trial.items.beginAnew()
            try await trial.reindexEverything()
            return ((first, trial.items.items), stays)
        }
        let (first, second) = seen
        var findings = Findings()
        if stays {
            findings.warn(
                "A reindex of everything does not delete items that no longer exist, so searches find them indefinitely.",
                """
                Start with delete_all (in Swift deleteAllSearchableItems). The items can be found until the acknowledgement, \
                which deletes those that were not donated again.
                """)
        }
        let isSample = survey.isSample
        Self.compare(first, second, "A second reindex in the same process", isSample: isSample, &findings)
        Self.compare(survey.items, first, "A reindex in a new process", isSample: isSample, &findings)
        guard findings.hasNoFailure, first.isEmpty else { return findings.result }
        return .warning(
            reason: "It donated no items.",
            advice: "If it has items on your machine, check its output with --verbose.")
    }

    /// Reports the differences between two sets of items.
    ///
    /// - Parameter isSample: `true` if both sets are samples. Two samples may differ in at most
    ///   half of their items.
    static func compare(
        _ one: [DonationCollector.Name: ItemRecord], _ other: [DonationCollector.Name: ItemRecord], _ what: String,
        isSample: Bool = false, _ findings: inout Findings
    ) {
        var missing = one.keys.filter { other[$0] == nil }.sorted()
        var extra = other.keys.filter { one[$0] == nil }.sorted()
        if isSample, missing.count * 2 <= one.count, extra.count * 2 <= other.count { (missing, extra) = ([], []) }
        for (names, verb) in [(missing, "lacks"), (extra, "also has")] where !names.isEmpty {
            findings.fail(
                "\(what) \(verb) \(names.count) items, such as \(names.prefix(3).map(\.identifier.quoted).joined(separator: ", ")).",
                """
                Use the same identifier for an item each time, and donate everything each time, independent of earlier \
                donations.
                """)
        }
        var volatile: [String: Int] = [:]
        for (name, record) in one {
            guard let again = other[name], again != record else { continue }
            for attribute in differing(record, again) { volatile[attribute, default: 0] += 1 }
        }
        for (attribute, count) in volatile.sorted(by: { $0.key < $1.key }) {
            findings.warn(
                "\(what) gives a different \(attribute) for \(count) items.",
                "Donate values that only change with the item; otherwise each reindex writes everything again.")
        }
    }

    /// Returns the names of the attributes that differ between two records of an item.
    static func differing(_ one: ItemRecord, _ other: ItemRecord) -> [String] {
        var names = Set(one.attributes.keys).union(other.attributes.keys).filter {
            one.attributes[$0] != other.attributes[$0] || one.traits[$0] != other.traits[$0]
        }
        if one.domainIdentifier != other.domainIdentifier { names.insert("domainIdentifier") }
        if one.expiration != other.expiration { names.insert("expirationDate") }
        if one.isUpdate != other.isUpdate { names.insert("isUpdate") }
        return names.sorted()
    }

    /// The number of identifiers in one request, which exceeds any small buffer.
    private static let manyIdentifiers = 10_000

    /// Requests items by identifier.
    func checkReindexItems() async throws(ExtensionError) -> CheckResult {
        guard survey.isServed else { return .skipped(reason: "it serves no reindex") }
        var generator = generator
        let known = generator.sample(survey.records, 10)
        let unknown = generator.unusedName()
        let many = (0..<Self.manyIdentifiers).map { _ in generator.unusedName() }
        let advice = """
            Donate each requested item, or delete it if it no longer exists; then acknowledge. Delete or ignore unknown \
            identifiers.
            """
        return try await withTrial { (trial) throws(ExtensionError) in
            var findings = Findings()
            try await trial.reindexEverything()
            let all = trial.items.items
            trial.items.beginAnew(keepingItems: true)
            if !known.isEmpty {
                try await trial.reindex(known.map(\.uniqueIdentifier))
                for record in known where !trial.items.touched.contains(record.uniqueIdentifier) {
                    findings.fail(
                        "It acknowledged the reindex of \(record.uniqueIdentifier.quoted) and neither donated nor deleted it.",
                        advice)
                }
            }
            try await trial.reindex([unknown])
            if trial.items.items.keys.contains(where: { $0.identifier == unknown }) {
                findings.fail("It donated \(unknown.quoted), which does not exist.", advice)
            }
            try await trial.reindex([])
            if let record = known.first {
                try await trial.reindex([String](repeating: record.uniqueIdentifier, count: 5))
            }
            try await trial.reindex(many + known.map(\.uniqueIdentifier))
            if trial.items.items.keys.contains(where: { $0.identifier.hasPrefix(generator.unusedPrefix) }) {
                findings.fail("It donated some of \(many.count) items that do not exist.", advice)
            }
            Self.compare(all, trial.items.items, "After reindexing some items, the index", &findings)
            return findings.result
        }
    }

    /// Requests items that are in the index but no longer exist. A request does not name an index,
    /// so an extension deletes such items from each index to which it donates.
    func checkGoneItems() async throws(ExtensionError) -> CheckResult {
        guard survey.isServed else { return .skipped(reason: "it serves no reindex") }
        var generator = generator
        // Two identifiers resemble existing ones, for an extension that accepts only identifiers in
        // its own format.
        var gone: [DonationCollector.Name: ItemRecord] = [:]
        for record in generator.sample(survey.items.sorted { $0.key < $1.key }, 2) {
            let name = Self.goneName(like: record.key.identifier, generator.unusedName())
            gone[.init(index: record.key.index, identifier: name)] = Self.renamed(record.value, to: name)
        }
        let unknown = generator.unusedName()
        let indexes = survey.items.isEmpty ? [nil] : Set(survey.items.keys.map(\.index))
        for index in indexes { gone[.init(index: index, identifier: unknown)] = ItemRecord(uniqueIdentifier: unknown) }
        let names = gone.keys.sorted()
        let identifiers = Set(names.map(\.identifier)).sorted()
        let left = try await withTrial(leftover: gone) { (trial) throws(ExtensionError) in
            try await trial.reindex(identifiers)
            return names.filter { trial.items.stillKnows($0) || trial.items.items[$0] != nil }
        }
        guard let first = left.first else { return .passed }
        return .failed(
            reason: """
                It acknowledged the reindex of \(identifiers.count) items that no longer exist, and left \(left.count) in the \
                index, such as \(first.identifier.quoted)\(first.index.map { " in the index \($0.quoted)" } ?? ""). \
                Searches would find them indefinitely.
                """,
            advice: """
                Delete requested items that no longer exist (delete_items, in Swift \
                deleteSearchableItems(withIdentifiers:)) from each index to which you donate, then acknowledge.
                """)
    }

    /// Returns an unused identifier in the format of a known one: in the same folder if it is a
    /// path, and with the same filename extension.
    static func goneName(like known: String, _ unused: String) -> String {
        let slash = known.lastIndex(of: "/")
        let folder = slash.map { known[...$0] } ?? ""
        let last = slash.map { known[known.index(after: $0)...] } ?? known[...]
        guard let dot = last.lastIndex(of: "."), dot != last.startIndex else { return folder + unused }
        return folder + unused + last[dot...]
    }

    private static func renamed(_ record: ItemRecord, to name: String) -> ItemRecord {
        var record = record
        if let url = record.text("contentURL"), url.hasSuffix(record.uniqueIdentifier) {
            record.attributes["contentURL"] = .url(String(url.dropLast(record.uniqueIdentifier.count)) + name)
        }
        record.uniqueIdentifier = name
        return record
    }
}
