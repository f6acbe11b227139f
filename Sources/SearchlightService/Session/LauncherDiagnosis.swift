// SPDX-License-Identifier: Apache-2.0
import BusTransport
import SearchIndex

/// Converts a search diagnosis to named values for launchers (docs/DBUS.md).
enum LauncherDiagnosis {
    static func all(of diagnosis: SearchDiagnosis) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "outcome": .string(diagnosis.outcome.rawValue), "summary": .string(text: diagnosis.summary),
            "limit": .unsigned(UInt64(clamping: diagnosis.limit)),
            "found": .unsigned(UInt64(clamping: diagnosis.total.count)),
            "foundIsExact": .boolean(diagnosis.total.isExact),
            "words": .dictionaries(diagnosis.words.map(word)),
            "conditions": .dictionaries(diagnosis.conditions.map { condition($0, of: diagnosis.item) }),
            "suggestions": .dictionaries(diagnosis.suggestions.map(suggestion)),
        ]
        if let correction = diagnosis.correction { values["correction"] = .string(text: correction.text) }
        if let rank = diagnosis.rank { values["rank"] = .unsigned(UInt64(clamping: rank)) }
        if let hit = diagnosis.hit { values["hit"] = .dictionary(ranked(hit)) }
        if let last = diagnosis.lastShown { values["lastShown"] = .dictionary(ranked(last)) }
        if let pending = diagnosis.pending?.total {
            values["pending"] = .dictionary(LauncherItem.pending(pending))
        }
        return values
    }

    private static func word(_ word: SearchDiagnosis.Word) -> [String: BusValue] {
        [
            "word": .string(text: word.text), "tells": .boolean(word.tells), "mayGoOn": .boolean(word.isOpen),
            "places": .string(text: word.places), "fields": .strings(word.occurrences.map(\.field.rawValue)),
            "matches": .strings(word.occurrences.map(\.match.rawValue)),
        ]
    }

    private static func condition(
        _ condition: SearchDiagnosis.Condition, of item: StoredItem
    ) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "kind": .string(condition.kind.rawValue), "text": .string(text: condition.text),
            "sentence": .string(text: condition.sentence), "isMet": .boolean(condition.isMet),
        ]
        let attributes = item.record.attributes.filter { condition.attributes.contains($0.key) }
        if !attributes.isEmpty { values["attributes"] = LauncherItem.value(of: attributes, depth: 3) }
        return values
    }

    private static func ranked(_ hit: SearchDiagnosis.RankedItem) -> [String: BusValue] {
        [
            "number": .unsigned(UInt64(max(0, hit.number))), "title": .string(text: hit.title),
            "score": .double(hit.score), "kind": .string("\(hit.parts.fit)"), "evidence": .double(hit.parts.evidence),
            "words": .double(hit.parts.words), "nearness": .double(hit.parts.nearness),
            "freshness": .double(hit.parts.freshness), "engagement": .double(hit.parts.engagement),
        ]
    }

    private static func suggestion(_ suggestion: SearchDiagnosis.Suggestion) -> [String: BusValue] {
        var values: [String: BusValue] = [
            "text": .string(text: suggestion.text), "limit": .unsigned(UInt64(clamping: suggestion.limit)),
            "rank": .unsigned(UInt64(clamping: suggestion.rank)),
        ]
        if let bundle = suggestion.bundle { values["bundle"] = .string(text: bundle) }
        return values
    }
}
