// SPDX-License-Identifier: Apache-2.0

extension SearchCursor: Codable {
    /// The longest list of replaced words, in bytes.
    private static let maximumReplacementBytes = WordReplacement.maximumCount * (5 + 255)

    /// The flags beside the size of the replaced words.
    private static let (filters, noBareDates): (UInt64, UInt64) = (1 << 32, 1 << 33)

    /// Returns the largest size, in bytes, of a cursor that follows a number of hits.
    public static func maximumBytes(hits: Int) -> Int { 8 * (3 + hits) + maximumReplacementBytes }

    /// The cursor as bytes, with little-endian numbers: 8 bytes for the time, 4 for the size of the
    /// replaced words, 4 for the flags; then the replaced words, padded with zeros to a
    /// multiple of 8; then 8 bytes per item. A replaced word consists of its start (2 bytes), its
    /// end (2 bytes), the size of its replacement (1 byte), and the replacement.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 * (1 + shown.count))
        func append(_ value: UInt64) {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        append(now.bitPattern)
        var words: [UInt8] = []
        for replacement in replacements {
            for number in [replacement.range.lowerBound, replacement.range.upperBound] {
                words += [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
            }
            words.append(UInt8(truncatingIfNeeded: replacement.word.utf8.count))
            words += replacement.word.utf8
        }
        append(UInt64(words.count) | (readsFilters ? Self.filters : 0) | (readsBareDates ? 0 : Self.noBareDates))
        bytes += words + [UInt8](repeating: 0, count: (8 - words.count % 8) % 8)
        for number in shown { append(UInt64(bitPattern: number)) }
        return bytes
    }

    /// Decodes a cursor; `nil` for invalid bytes. A forged cursor can only select a position in the
    /// results of its search, and reveals nothing that the search would not find.
    public init?(bytes: some RandomAccessCollection<UInt8>) {
        guard bytes.count >= 16, bytes.count.isMultiple(of: 8) else { return nil }
        func number(_ bytes: some Sequence<UInt8>) -> UInt64 {
            bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
        }
        let now = Double(bitPattern: number(bytes.prefix(8)))
        let head = number(bytes.dropFirst(8).prefix(8))
        let size = Int(head & 0xFFFF_FFFF)
        let rest = bytes.dropFirst(16)
        guard now.isFinite, head >> 34 == 0, size <= Self.maximumReplacementBytes, (size + 7) / 8 * 8 <= rest.count,
            let replacements = Self.replacements(rest.prefix(size))
        else { return nil }
        var shown: [Int64] = []
        var items = rest.dropFirst((size + 7) / 8 * 8)
        shown.reserveCapacity(items.count / 8)
        while !items.isEmpty {
            shown.append(Int64(bitPattern: number(items.prefix(8))))
            items = items.dropFirst(8)
        }
        self.init(
            now: now, shown: shown, replacements: replacements, readsFilters: head & Self.filters != 0,
            readsBareDates: head & Self.noBareDates == 0)
    }

    /// Decodes replaced words; `nil` for invalid bytes.
    private static func replacements(_ bytes: some RandomAccessCollection<UInt8>) -> [WordReplacement]? {
        var rest = Array(bytes)[...]
        var replacements: [WordReplacement] = []
        while !rest.isEmpty {
            guard rest.count > 5, replacements.count < WordReplacement.maximumCount else { return nil }
            let head = rest.prefix(5).map(Int.init)
            let (start, end) = (head[0] | head[1] << 8, head[2] | head[3] << 8)
            let word = String(decoding: rest.dropFirst(5).prefix(head[4]), as: UTF8.self)
            // Checked because letters have no special meaning in an FTS5 expression.
            guard start < end, start >= replacements.last?.range.upperBound ?? 0, word.utf8.count == head[4],
                SpellingWords.isKept(word)
            else { return nil }
            replacements.append(WordReplacement(range: start..<end, word: word))
            rest = rest.dropFirst(5 + head[4])
        }
        return replacements
    }

    /// Decodes a cursor from its bytes.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer()
        guard let cursor = Self(bytes: try values.decode([UInt8].self)) else {
            throw DecodingError.dataCorruptedError(in: values, debugDescription: "the bytes are not a cursor")
        }
        self = cursor
    }

    /// Encodes the cursor as its bytes.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.singleValueContainer()
        try values.encode(bytes)
    }
}
