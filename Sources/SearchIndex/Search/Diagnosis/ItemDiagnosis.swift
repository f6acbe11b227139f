// SPDX-License-Identifier: Apache-2.0
import Foundation
import GRDB
import ItemRecord
import MetadataQuery
import TextAnalysis
import UserSearch

/// Compares one item separately with each word and each condition of a search.
struct ItemDiagnosis {
    private let request: SearchRequest
    private let item: StoredItem
    private let intent: SearchIntent?
    private let plan: SearchPlan?
    private let context: QueryContext

    init(_ request: SearchRequest, _ item: StoredItem, _ context: QueryContext) {
        (self.request, self.item, self.context) = (request, item, context)
        intent = SearchIntent(request, clock: context.clock)
        plan = SearchPlan(intent?.text ?? request.text)
    }

    private var terms: [UserQuery.Term] { intent?.words.terms ?? UserQuery(request.text).terms }

    // MARK: Words

    /// Returns the occurrences of each word in the item.
    func words(_ sought: [QueryWord]) -> [SearchDiagnosis.Word] {
        let fields = SearchableText.fields(of: item.record)
        let language = SearchableText.language(of: item.record, fields)
        let relevance = Relevance(words: sought, typed: nil)
        var words = sought.map {
            SearchDiagnosis.Word(text: $0.text, isOpen: $0.isOpen, tells: $0.isDistinctive)
        }
        for field in TextField.allCases where field.rawValue < fields.count {
            let found = best(in: fields[field.rawValue], sought, relevance, language)
            for (index, occurrence) in found {
                words[index].occurrences.append(
                    SearchDiagnosis.Occurrence(
                        field: .init(field), match: occurrence.match, example: occurrence.example))
            }
        }
        for index in words.indices {
            words[index].occurrences += inside(words[index], fields)
            if words[index].occurrences.isEmpty { words[index].unsearched = attributes(with: sought[index]) }
        }
        return words
    }

    private typealias Found = (match: SearchDiagnosis.Match, example: String)

    /// Returns the best match of each word in a text.
    private func best(
        in text: String, _ sought: [QueryWord], _ relevance: Relevance, _ language: WordLanguage
    ) -> [(Int, Found)] {
        var found: [Found?] = Array(repeating: nil, count: sought.count)
        FullTextTokenizer.forEachWord(in: text) { word in
            for index in sought.indices where found[index]?.match != .exact {
                guard let kind = relevance.kind(of: word.bytes, language, for: sought[index]) else { continue }
                let match: SearchDiagnosis.Match = kind.isExact ? .exact : kind.isWhole ? .form : .beginning
                if let known = found[index], known.match == match || known.match == .form { continue }
                found[index] = (match, Self.shown(word.bytes))
            }
            return true
        }
        return found.enumerated().compactMap { index, match in match.map { (index, $0) } }
    }

    private static func shown(_ word: UnsafeBufferPointer<UInt8>) -> String {
        String(decoding: word.prefix(WordStems.maximumBytes), as: UTF8.self)
    }

    /// Returns the words of titles and keywords that contain the word, if the search looks inside
    /// words.
    private func inside(_ word: SearchDiagnosis.Word, _ fields: [String]) -> [SearchDiagnosis.Occurrence] {
        guard word.occurrences.isEmpty, request.findsInsideWords, plan?.part == word.text,
            word.text.unicodeScalars.count >= TermDictionary.minimumLength
        else { return [] }
        let sequence = WordSequence(inside: word.text)
        return [TextField.title, .keywords].compactMap { field in
            var example: String?
            FullTextTokenizer.forEachWord(in: fields[field.rawValue]) { met in
                let text = Self.shown(met.bytes)
                if sequence.occurs(in: text) { example = text }
                return example == nil
            }
            return example.map { SearchDiagnosis.Occurrence(field: .init(field), match: .inside, example: $0) }
        }
    }

    /// Returns the attributes that contain a word but are not searched.
    private func attributes(with word: QueryWord) -> [String] {
        var found: [String] = []
        for (name, value) in item.record.attributes.sorted(by: { $0.key < $1.key })
        where found.count < SearchDiagnosis.maximumAttributes {
            let isSearched =
                SearchableText.column(of: name) != nil
                ? item.record.isSearchable(name) : item.record.isSearchableByDefault(name)
            let sequence = WordSequence([word.text], isPrefix: word.isOpen)
            if !isSearched, value.texts.contains(where: { sequence.occurs(in: $0) }) { found.append(name) }
        }
        return found
    }

    // MARK: Conditions

    /// A condition, and its byte range in the text; `nil` if it was not typed.
    typealias PlacedCondition = (condition: SearchDiagnosis.Condition, range: Range<Int>?)

    /// Returns the conditions of the search.
    ///
    /// - Parameter present: The time used to determine expiry, in seconds since 2001-01-01 UTC.
    /// - Throws: ``IndexQueryError/tooComplex(what:value:limit:)``.
    func conditions(present: Double) throws -> [PlacedCondition] {
        var conditions: [PlacedCondition] = []
        if let bundle = request.bundle {
            let isMet = item.scope.bundle == bundle
            conditions.append((.init(kind: .bundle, text: "", sentence: "of the app \(bundle)", isMet: isMet), nil))
        }
        if let expires = item.expires, expires <= present {
            conditions.append((.init(kind: .expiry, text: "", sentence: "that have not expired", isMet: false), nil))
        }
        for query in request.filters {
            conditions.append((try condition(.query, query, text: "", sentence: "with \(query)"), nil))
        }
        for filter in intent?.filters ?? [] { conditions.append((try condition(filter), filter.range)) }
        conditions += phrases()
        return conditions.enumerated().sorted {
            ($0.element.range?.lowerBound ?? -1, $0.offset) < ($1.element.range?.lowerBound ?? -1, $1.offset)
        }.map(\.element)
    }

    private func condition(_ filter: SearchIntent.Filter) throws -> SearchDiagnosis.Condition {
        let text = request.text.bytes(filter.range)
        if let expression = filter.expression {
            return try condition(.filter, expression, text: text, sentence: filter.sentence)
        }
        let isApp = filter.apps.contains { SearchRun.isApp($0, item.scope.bundle) }
        return .init(kind: .app, text: text, sentence: filter.sentence, isMet: isApp != filter.isExcluded)
    }

    private func condition(
        _ kind: SearchDiagnosis.Condition.Kind, _ query: QueryExpression, text: String, sentence: String
    ) throws -> SearchDiagnosis.Condition {
        let prepared = try PreparedQuery(query, filters: [], bundle: nil, context: context)
        return .init(
            kind: kind, text: text, sentence: sentence,
            isMet: QueryMatcher(prepared.expression, context: context).matches(item.record),
            attributes: Set(query.attributeNames.map { Self.sources[$0] ?? $0 })
                .filter { item.record.attributes[$0] != nil }.sorted())
    }

    /// The stored attributes from which queries derive other attributes.
    private static let sources = ["contentTypeTree": "contentType", "path": "contentURL"]

    /// Returns the conditions of the phrases and the excluded words.
    private func phrases() -> [PlacedCondition] {
        let fields = SearchableText.fields(of: item.record)
        return terms.compactMap { term -> PlacedCondition? in
            let words = FullTextTokenizer.searchWords(of: term.text)
            guard !words.isEmpty, term.isExcluded || term.isPhrase || SearchPlan.isShortRun(words) else { return nil }
            let occurs = WordSequence(words, isPrefix: term.isPrefix).occurs(inAnyOf: fields)
            let quoted = "“\(term.text.collapsingWhitespace)”"
            let sentence =
                term.isExcluded
                ? "without \(quoted)" : words.count > 1 ? "with \(quoted) side by side" : "with \(quoted)"
            return (
                .init(
                    kind: term.isExcluded ? .excludedWords : .phrase, text: request.text.bytes(term.range),
                    sentence: sentence, isMet: occurs != term.isExcluded), term.range
            )
        }
    }

    // MARK: Other texts

    /// Returns texts that may find the item, in this order: the text without the conditions that
    /// the item does not satisfy; the text also without the words that the item lacks; the item's
    /// title; its identifier.
    func otherTexts(_ conditions: [PlacedCondition], _ words: [SearchDiagnosis.Word]) -> [String] {
        var edits: [(range: Range<Int>, text: String)] = []
        for (condition, range) in conditions where !condition.isMet {
            guard let range else { continue }
            // The words of a phrase may occur without being adjacent.
            let words = condition.kind == .phrase ? terms.first { $0.range == range }?.text : nil
            edits.append((range, words ?? ""))
        }
        let missing = Set(words.filter { $0.occurrences.isEmpty }.map(\.text))
        let without = terms.filter { term in
            let parts = FullTextTokenizer.searchWords(of: term.text)
            return !term.isExcluded && !parts.isEmpty && parts.allSatisfy(missing.contains)
        }
        let further =
            edits.filter { edit in !without.contains { $0.range == edit.range } } + without.map { ($0.range, "") }
        let title = item.displayTitle.split(whereSeparator: \.isWhitespace).prefix(Self.maximumTitleWords)
        let texts = [
            request.text.replacing(edits), request.text.replacing(further), title.joined(separator: " "),
            item.record.uniqueIdentifier,
        ]
        var known: Set<String> = [request.text.collapsingWhitespace, ""]
        return texts.filter { known.insert($0).inserted && $0.utf8.count <= UserQuery.maximumBytes }
    }

    private static let maximumTitleWords = 8

    /// Returns the item reduced to its title and the values that the conditions test.
    func projected(_ conditions: [PlacedCondition]) -> StoredItem {
        let wanted = Set(["title", "displayName"] + conditions.flatMap(\.condition.attributes))
        var item = item
        item.record.attributes = item.record.attributes.filter { name, value in
            let isShort =
                switch value {
                case .data: false
                default: value.texts.reduce(0) { $0 + $1.utf8.count } <= SearchDiagnosis.maximumValueBytes
                }
            return wanted.contains(name) && isShort
        }
        return item
    }
}

extension SearchDiagnosis.Field {
    fileprivate init(_ field: TextField) {
        self =
            switch field {
            case .title: .title
            case .keywords: .keywords
            case .description: .description
            case .body: .text
            }
    }
}

extension String {
    /// Returns the substring at a range of UTF-8 bytes.
    fileprivate func bytes(_ range: Range<Int>) -> String {
        String(decoding: utf8.dropFirst(range.lowerBound).prefix(range.count), as: UTF8.self)
    }

    /// Returns the text with some parts replaced. The parts must not overlap.
    fileprivate func replacing(_ edits: [(range: Range<Int>, text: String)]) -> String {
        var bytes = Array(utf8)
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound })
        where edit.range.upperBound <= bytes.count {
            bytes.replaceSubrange(edit.range, with: Array((" " + edit.text + " ").utf8))
        }
        return String(decoding: bytes, as: UTF8.self).collapsingWhitespace
    }
}
