// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import MetadataQuery
import TextAnalysis

/// Finds titles that are, or begin with, what was typed, whatever their age: by the attribute index, which is sorted.
struct TitleLookup {
    /// What a title seems to be, in rising order.
    enum Kind: Int, Comparable {
        case other, start, whole

        static func < (one: Kind, other: Kind) -> Bool { one.rawValue < other.rawValue }
    }

    private let plan: SearchPlan
    private let bound: Int64
    private let now: Double
    private let limits: SearchLimits
    private let typed: String

    /// What is typed must have so many letters for title starts to be looked for.
    static let minimumLength = 2
    /// More than a page of each.
    private static let maximumFound = 32
    /// The most long titles with the same beginning that are looked at, the newest.
    private static let maximumLongTitles = 4096
    private static let projection = RecordProjection(of: TitleFit.attributes)

    init(_ plan: SearchPlan, bound: Int64, now: Double, _ limits: SearchLimits) {
        self.plan = plan
        self.bound = bound
        self.now = now
        self.limits = limits
        typed = TextFolding.folded(plan.text, case: true, diacritics: true)
    }

    /// The texts of items that may be such; whether they are is still to be seen.
    func rows(_ tags: SearchTags, _ db: Database) throws -> [Int64: Kind] {
        guard plan.isPlain, !typed.isEmpty else { return [:] }
        let names = try TitleFit.attributes.compactMap { try AttributeIndex.number(of: $0, db) }
        var found: [Int64: Kind] = [:]
        if typed.unicodeScalars.count >= Self.minimumLength {
            let starts = try names.map { try titleStarts($0, tags, db) }
            for row in starts.flatMap({ $0 ?? [] }) { found[row] = .start }
            if starts.contains(nil) { for row in try newestStarts(tags, db) { found[row] = .start } }
        }
        for name in names { for row in try wholeTitles(name, tags, db) { found[row] = .whole } }
        return found
    }

    private func wholeTitles(_ name: Int64, _ tags: SearchTags, _ db: Database) throws -> [Int64] {
        guard let key = AttributeKey.key(of: typed) else { return [] }
        return try AttributeKey.isCut(key) ? longTitles(tags, db) : wholeKeys(key, name, tags.bundle, db)
    }

    /// Keys of long titles tell only how they begin, so that these are looked at. Who types so much has time.
    private func longTitles(_ tags: SearchTags, _ db: Database) throws -> [Int64] {
        let scan = CandidateScan.titleStarts(plan, tags: tags, limits, isFinished: true)
        return try fitting(scan, among: Self.maximumLongTitles, db) { $0 == .wholeTitle }
    }

    /// The newest titles that begin with the text. Where that is more than FTS5 can be asked, they are looked for among so many
    /// of the newest that it finds as are compared otherwise.
    private func newestStarts(_ tags: SearchTags, _ db: Database) throws -> [Int64] {
        let scan = CandidateScan.titleStarts(plan, tags: tags, limits)
        guard plan.endsInLetter else {
            return try scan?.window(from: bound, count: Self.maximumFound, db).matches.map(\.row) ?? []
        }
        return try fitting(scan, among: limits.titleStarts, db) { _ in true }
    }

    /// The newest matches of a scan with a title that fits.
    private func fitting(
        _ scan: CandidateScan?, among count: Int, _ db: Database, where isWanted: (SearchHit.Kind) -> Bool
    ) throws -> [Int64] {
        let fit = TitleFit(plan.text)
        var found: [Int64] = []
        var bytes = 0
        for match in try scan?.window(from: bound, count: count, db).matches ?? [] {
            let record = try match.withRecord(db) { record in
                bytes += record?.count ?? 0
                return record.flatMap { try? Self.projection.record(decoding: $0) }
            }
            if let kind = record.flatMap(fit.kind(of:)), isWanted(kind) { found.append(match.row) }
            if found.count == Self.maximumFound || bytes >= limits.titleBytes { break }
        }
        return found
    }

    private func wholeKeys(_ key: String, _ name: Int64, _ bundle: Int64?, _ db: Database) throws -> [Int64] {
        try Int64.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT item.text_row FROM attribute CROSS JOIN item ON item.id = attribute.item
                    WHERE attribute.name = ? AND attribute.value = ? AND item.text_row <= ?
                        AND (? IS NULL OR item.bundle = ?) AND (item.expires IS NULL OR item.expires > ?)
                    ORDER BY attribute.item DESC LIMIT ?
                    """), arguments: [name, key, bound, bundle, bundle, now, Self.maximumFound])
    }

    /// The newest titles that begin with the text; `nil` if there are more than are compared.
    private func titleStarts(_ name: Int64, _ tags: SearchTags, _ db: Database) throws -> [Int64]? {
        guard let part = AttributeKey.Part(typed, isStart: true), let upper = part.upperBound else { return [] }
        let lower = part.lowerBound
        var rows = try Int64?.fetchAll(
            db.cachedStatement(
                sql: """
                    SELECT CASE WHEN item.text_row <= ? AND (? IS NULL OR item.bundle = ?)
                        AND (item.expires IS NULL OR item.expires > ?) THEN item.text_row END
                    FROM attribute CROSS JOIN item ON item.id = attribute.item
                    WHERE attribute.name = ? AND attribute.value >= ? AND attribute.value < ? LIMIT ?
                    """),
            arguments: [bound, tags.bundle, tags.bundle, now, name, lower, upper, limits.titleStarts + 1])
        guard rows.count <= limits.titleStarts else { return nil }
        if let key = part.cutKey { rows += try wholeKeys(key, name, tags.bundle, db) }
        return Array(rows.compactMap { $0 }.sorted(by: >).prefix(Self.maximumFound))
    }
}
