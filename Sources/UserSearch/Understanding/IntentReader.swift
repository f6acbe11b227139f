// SPDX-License-Identifier: Apache-2.0
import MetadataQuery

/// Parses the filters of a text, from left to right.
struct IntentReader {
    /// A part of the text delimited by white space.
    private struct Piece {
        var scalars: Range<Int>
        /// `true` for an unquoted word, which may belong to a date without a filter name.
        var isPlain: Bool
    }

    private let text: String
    private let scalars: [Unicode.Scalar]
    /// The byte offset of each scalar in the text, and of the end.
    private let offsets: [Int]
    private let dates: DatePhrase
    private var position = 0
    private var pieces: [Piece] = []
    /// The totals of the filters: the number of comparisons, and the bytes of the query's text.
    private var (terms, bytes) = (0, 0)

    private(set) var filters: [SearchIntent.Filter] = []
    private(set) var hints: [SearchIntent.Hint] = []
    private(set) var isTruncated = false

    /// Half of a query's limit, so that the caller can add conditions.
    private static let maximumTerms = QueryLimits.standard.maximumTerms / 2
    private static let maximumQueryBytes = QueryLimits.standard.maximumBytes / 2
    /// The longest value, in scalars.
    private static let maximumValueLength = 256

    init(_ text: String, dates: DatePhrase) {
        self.text = text
        self.dates = dates
        var (scalars, offsets): ([Unicode.Scalar], [Int]) = ([], [])
        var offset = 0
        for scalar in text.unicodeScalars {
            guard offset + UTF8.width(scalar) <= UserQuery.maximumBytes else { break }
            scalars.append(scalar)
            offsets.append(offset)
            offset += UTF8.width(scalar)
        }
        offsets.append(offset)
        (self.scalars, self.offsets) = (scalars, offsets)
    }

    /// The text with filters replaced by spaces, so that byte offsets stay the same.
    var remainder: String {
        guard !filters.isEmpty else { return text }
        var bytes = Array(text.utf8)
        for filter in filters { for index in filter.range { bytes[index] = 0x20 } }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// - Parameter bareDates: `true` to look for dates without a filter name.
    mutating func read(bareDates: Bool) {
        while true {
            while let scalar = current, UserQuery.isSpace(scalar) { position += 1 }
            guard position < scalars.count else { break }
            readPiece()
        }
        if bareDates { readBareDates() }
        filters.sort { $0.range.lowerBound < $1.range.lowerBound }
    }

    private var current: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    // MARK: Pieces

    private mutating func readPiece() {
        let start = position
        let isExcluded = current == "-"
        if isExcluded { position += 1 }
        if let scalar = current, UserQuery.isQuote(scalar) {
            skipQuoted()
            return pieces.append(Piece(scalars: start..<position, isPlain: false))
        }
        let nameStart = position
        if readFilter(from: start, nameStart: nameStart, isExcluded: isExcluded) {
            return pieces.append(Piece(scalars: start..<position, isPlain: false))
        }
        position = nameStart
        while let scalar = current, !UserQuery.isSpace(scalar) { position += 1 }
        pieces.append(Piece(scalars: start..<position, isPlain: !isExcluded))
    }

    /// Moves past the closing quote, or to the end.
    private mutating func skipQuoted() {
        position += 1
        while let scalar = current, !UserQuery.isQuote(scalar) { position += 1 }
        if position < scalars.count { position += 1 }
    }

    /// Parses a filter that begins here. Returns `false`, at an arbitrary position, if there is
    /// none.
    private mutating func readFilter(from start: Int, nameStart: Int, isExcluded: Bool) -> Bool {
        while let scalar = current, Self.isNameScalar(scalar), position - nameStart <= Self.longestHintedName {
            position += 1
        }
        guard position > nameStart, current == ":" else { return false }
        let name = string(nameStart..<position)
        position += 1
        guard let filter = FilterName(name: name) else {
            hintAtName(name, start)
            return false
        }
        guard let values = readValues(filter), !values.isEmpty else { return false }
        var meanings: [FilterMeaning] = []
        for value in values {
            guard let meaning = filter.meaning(value, dates) else {
                hint(
                    start..<position,
                    "“\(value.text)” is not a value of \(name.lowercased()):. Write \(filter.expectation).")
                return false
            }
            meanings.append(meaning)
        }
        return add(meanings, isExcluded: isExcluded, isImplied: false, start..<position)
    }

    private static func isNameScalar(_ scalar: Unicode.Scalar) -> Bool {
        ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
    }

    // MARK: Values

    /// Returns the values after the colon; `nil` if there are none or too many.
    private mutating func readValues(_ filter: FilterName) -> [FilterValue]? {
        var values: [FilterValue] = []
        let start = position
        repeat {
            // The value after the last comma may not be typed yet.
            guard let first = current, !UserQuery.isSpace(first) else { break }
            guard values.count < SearchIntent.maximumValues else {
                isTruncated = true
                return nil
            }
            guard let value = readValue(filter) else { return nil }
            values.append(value)
        } while skipComma()
        if values.isEmpty { hintAtEmptyValue(filter, start) }
        return values
    }

    private mutating func skipComma() -> Bool {
        guard current == "," else { return false }
        position += 1
        return true
    }

    private mutating func readValue(_ filter: FilterName) -> FilterValue? {
        let start = position
        if let scalar = current, UserQuery.isQuote(scalar) {
            skipQuoted()
            let isClosed = position - start > 1 && UserQuery.isQuote(scalars[position - 1])
            return value(start + 1..<(isClosed ? position - 1 : position), isQuoted: true)
        }
        while let scalar = current, !UserQuery.isSpace(scalar), scalar != "," { position += 1 }
        let end = position
        guard end > start else { return nil }
        if filter.takesDates, current != ",", let longer = readDate(from: start, firstEnd: end) { return longer }
        if filter.takesSizes, let longer = readSize(from: start, firstEnd: end) { return longer }
        return value(start..<end, isQuoted: false)
    }

    private func value(_ range: Range<Int>, isQuoted: Bool) -> FilterValue? {
        guard !range.isEmpty, range.count <= Self.maximumValueLength else { return nil }
        return FilterValue(text: string(range), isQuoted: isQuoted)
    }

    /// Returns the words of a date starting at `start`, if there are several.
    private mutating func readDate(from start: Int, firstEnd: Int) -> FilterValue? {
        var words = [string(start..<min(firstEnd, start + Self.maximumValueLength))]
        var ends = [firstEnd]
        var next = firstEnd
        while words.count < DatePhrase.maximumWords {
            while next < scalars.count, UserQuery.isSpace(scalars[next]) { next += 1 }
            let wordStart = next
            while next < scalars.count, !UserQuery.isSpace(scalars[next]), next - wordStart < Self.longestDateWord {
                next += 1
            }
            guard next > wordStart, next == scalars.count || UserQuery.isSpace(scalars[next]) else { break }
            words.append(string(wordStart..<next))
            ends.append(next)
        }
        guard let found = dates.period(words.map { FoldedText.fold($0) }), found.words > 1 else { return nil }
        position = ends[found.words - 1]
        return FilterValue(text: words.prefix(found.words).joined(separator: " "), isQuoted: false)
    }

    private static let longestDateWord = 16

    /// Returns a number with the unit that follows it after a space: `larger:10 MB`.
    private mutating func readSize(from start: Int, firstEnd: Int) -> FilterValue? {
        let number = start..<firstEnd
        guard scalars[number].allSatisfy({ ("0"..."9").contains($0) || $0 == "." }) else { return nil }
        var next = firstEnd
        while next < scalars.count, UserQuery.isSpace(scalars[next]) { next += 1 }
        let unitStart = next
        while next < scalars.count, Self.isNameScalar(scalars[next]) { next += 1 }
        let text = string(number) + string(unitStart..<next)
        // A single letter may be a word.
        guard unitStart > firstEnd, next > unitStart + 1, next == scalars.count || UserQuery.isSpace(scalars[next]),
            next - start <= Self.maximumValueLength, FileSize(text) != nil
        else { return nil }
        position = next
        return FilterValue(text: text, isQuoted: false)
    }

    // MARK: Bare dates

    private mutating func readBareDates() {
        // The text must contain other words, so at least one piece must remain.
        if let found = bareDate(pieces.indices.reversed().prefix(Self.longestBareDate).reversed(), isAtEnd: true) {
            takeBareDate(found)
        }
        if let found = bareDate(pieces.indices.prefix(Self.longestBareDate).map { $0 }, isAtEnd: false) {
            takeBareDate(found)
        }
    }

    /// The largest number of pieces: two words before a date, and four for the date.
    private static let longestBareDate = 6

    /// Returns the longest date without a filter name among the pieces at one end of the text.
    private func bareDate(
        _ candidates: [Int], isAtEnd: Bool
    ) -> (pieces: Range<Int>, period: DatePeriod, isSince: Bool)? {
        for count in stride(from: min(candidates.count, pieces.count - 1), to: 0, by: -1) {
            let range = isAtEnd ? pieces.count - count..<pieces.count : 0..<count
            guard pieces[range].allSatisfy({ $0.isPlain && $0.scalars.count <= Self.longestDateWord }) else { continue }
            var words = pieces[range].map { FoldedText.fold(string($0.scalars)) }
            let isSince = words[0] == "since"
            if isSince || words[0] == "from" || words[0] == "in" { words.removeFirst() }
            if words.first == "the" { words.removeFirst() }
            guard !words.isEmpty, let period = dates.bare(words) else { continue }
            return (range, period, isSince)
        }
        return nil
    }

    private mutating func takeBareDate(_ found: (pieces: Range<Int>, period: DatePeriod, isSince: Bool)) {
        guard let meaning = FilterName.bare(found.period, isSince: found.isSince) else { return }
        let range =
            pieces[found.pieces.lowerBound].scalars.lowerBound..<pieces[found.pieces.upperBound - 1].scalars.upperBound
        guard add([meaning], isExcluded: false, isImplied: true, range) else { return }
        // The date remains as one piece, so that another date can be found at the start.
        pieces.replaceSubrange(found.pieces, with: [Piece(scalars: range, isPlain: false)])
    }

    // MARK: Results

    private mutating func add(
        _ meanings: [FilterMeaning], isExcluded: Bool, isImplied: Bool, _ range: Range<Int>
    ) -> Bool {
        guard filters.count < SearchIntent.maximumFilters else {
            isTruncated = true
            return false
        }
        let expressions = meanings.compactMap(\.expression)
        var expression: QueryExpression?
        if let first = expressions.first {
            let any: QueryExpression = expressions.count == 1 ? first : .or(expressions)
            let whole: QueryExpression = isExcluded ? .not(any) : any
            let (newTerms, newBytes) = (whole.termCount, whole.description.utf8.count)
            guard terms + newTerms <= Self.maximumTerms, bytes + newBytes <= Self.maximumQueryBytes else {
                isTruncated = true
                return false
            }
            (terms, bytes) = (terms + newTerms, bytes + newBytes + 8)
            expression = whole
        }
        let sentence = meanings.map(\.sentence).joined(separator: " or ")
        filters.append(
            SearchIntent.Filter(
                expression: expression, apps: meanings.compactMap(\.app), isExcluded: isExcluded, isImplied: isImplied,
                range: byteRange(range), sentence: isExcluded ? "not " + sentence : sentence))
        return true
    }

    // MARK: Hints

    /// The length of the longest name that may be a misspelled filter.
    private static let longestHintedName = FilterName.longestName + 2

    private mutating func hintAtName(_ name: String, _ start: Int) {
        // A time, a path, a URL and a scope (12:30, C:\\x, http://, std::vector) are not meant as
        // filters.
        guard name.utf8.count > 1, let next = current, !UserQuery.isSpace(next), !":/\\".unicodeScalars.contains(next)
        else { return }
        var end = position
        while end < scalars.count, !UserQuery.isSpace(scalars[end]) { end += 1 }
        let lowercased = name.lowercased()
        let near = EditDistance(Array(lowercased.unicodeScalars)).flatMap { distance in
            FilterName.names.map { (name: $0, edits: distance.edits(to: $0.unicodeScalars)) }
                .filter { $0.edits <= (lowercased.utf8.count < 6 ? 1 : 2) }.min { $0.edits < $1.edits }
        }
        hint(
            start..<end,
            near.map { "“\(name):” is not a filter, so it is searched as text. Did you mean \($0.name):?" }
                ?? "“\(name):” is not a filter, so it is searched as text.")
    }

    private mutating func hintAtEmptyValue(_ filter: FilterName, _ end: Int) {
        var start = end - 1
        while start > 0, Self.isNameScalar(scalars[start - 1]) { start -= 1 }
        hint(
            start..<end,
            "“\(string(start..<end))” has no value. Write \(filter.expectation) directly after the colon.")
    }

    private mutating func hint(_ range: Range<Int>, _ message: String) {
        guard hints.count < SearchIntent.maximumHints else { return }
        hints.append(SearchIntent.Hint(range: byteRange(range), message: message))
    }

    // MARK: Places

    private func byteRange(_ range: Range<Int>) -> Range<Int> { offsets[range.lowerBound]..<offsets[range.upperBound] }

    private func string(_ range: Range<Int>) -> String {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars[range])
        return String(view)
    }
}

extension QueryExpression {
    /// The number of comparisons and ranges.
    fileprivate var termCount: Int {
        switch self {
        case .comparison, .range: 1
        case .and(let parts), .or(let parts): parts.reduce(0) { $0 + $1.termCount }
        case .not(let part): part.termCount
        }
    }
}
