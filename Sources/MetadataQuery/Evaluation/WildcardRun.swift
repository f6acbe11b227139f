// SPDX-License-Identifier: Apache-2.0

/// A sequence of scalars and wildcards, matched without backtracking. The pieces between `*` are
/// found one after another, each as far left as possible, which finds a match whenever there is
/// one.
struct WildcardRun {
    enum Element: Hashable {
        case scalar(Unicode.Scalar)
        case anyCharacter
        case anyText
    }

    private let pieces: [Piece]
    private let startsWithAnyText: Bool
    private let endsWithAnyText: Bool

    init(_ elements: [Element]) {
        startsWithAnyText = elements.first == .anyText
        endsWithAnyText = elements.last == .anyText
        pieces = elements.split(separator: .anyText).map { Piece($0) }
    }

    /// Returns `true` if the sequence matches the whole text.
    func equals(_ text: ComparableText) -> Bool {
        let count = text.scalars.count
        if text.isCut, !endsWithAnyText { return false }
        guard let first = pieces.first, let last = pieces.last else { return startsWithAnyText || count == 0 }
        if pieces.count == 1, !startsWithAnyText, !endsWithAnyText, first.count != count { return false }
        var position = 0
        var middle = pieces[...]
        if !startsWithAnyText {
            guard first.matches(text.scalars, at: 0) else { return false }
            position = first.count
            middle = middle.dropFirst()
        }
        if !endsWithAnyText {
            // The only piece, which has the length of the text, was compared above.
            if middle.isEmpty { return true }
            guard count - last.count >= position, last.matches(text.scalars, at: count - last.count) else {
                return false
            }
            middle = middle.dropLast()
        }
        let end = endsWithAnyText ? count : count - last.count
        for piece in middle {
            guard let next = piece.end(in: text.scalars[position..<end], where: { _, _ in true }) else { return false }
            position = next
        }
        return true
    }

    /// Returns `true` if the sequence matches a part of the text between word boundaries. A `*` at
    /// either end removes the boundary condition at that end.
    func isFound(in text: ComparableText) -> Bool {
        // Folding may remove the whole value, if it consists only of diacritics.
        if pieces.isEmpty { return startsWithAnyText }
        var position = 0
        for (index, piece) in pieces.enumerated() {
            let needsStart = index == 0 && !startsWithAnyText
            let needsEnd = index == pieces.count - 1 && !endsWithAnyText
            let next = piece.end(in: text.scalars[position...]) { start, end in
                (!needsStart || text.isBoundary(start)) && (!needsEnd || text.isBoundary(end))
            }
            guard let next else { return false }
            position = next
        }
        return true
    }
}

/// A sequence of scalars and `?`, searched with the shift-and automaton. The automaton has one bit
/// per position, so the cost does not depend on repetitions in the text.
private struct Piece {
    let elements: [WildcardRun.Element]
    private let words: Int
    /// For each scalar of the piece, a bit mask of its positions, least significant bit first.
    private let masks: [Unicode.Scalar: [UInt64]]
    /// The bit mask of the positions of `?`, which any scalar matches.
    private let anyMask: [UInt64]

    var count: Int { elements.count }

    init(_ slice: ArraySlice<WildcardRun.Element>) {
        elements = Array(slice)
        words = (elements.count + 63) / 64
        var anyMask = [UInt64](repeating: 0, count: words)
        for (index, element) in elements.enumerated() where element == .anyCharacter {
            anyMask[index / 64] |= 1 << UInt64(index % 64)
        }
        var masks: [Unicode.Scalar: [UInt64]] = [:]
        for (index, element) in elements.enumerated() {
            guard case .scalar(let scalar) = element else { continue }
            masks[scalar, default: anyMask][index / 64] |= 1 << UInt64(index % 64)
        }
        self.masks = masks
        self.anyMask = anyMask
    }

    func matches(_ scalars: [Unicode.Scalar], at start: Int) -> Bool {
        guard start >= 0, start + count <= scalars.count else { return false }
        for (index, element) in elements.enumerated() {
            if case .scalar(let scalar) = element, scalars[start + index] != scalar { return false }
        }
        return true
    }

    /// Returns the end of the leftmost occurrence whose start and end satisfy the condition.
    func end(in scalars: ArraySlice<Unicode.Scalar>, where accepts: (Int, Int) -> Bool) -> Int? {
        guard scalars.count >= count else { return nil }
        var state = [UInt64](repeating: 0, count: words)
        let last = (count - 1) / 64
        let lastBit: UInt64 = 1 << UInt64((count - 1) % 64)
        // While no match has begun, skips scalars that cannot begin one.
        var first: Unicode.Scalar?
        if case .scalar(let scalar) = elements[0] { first = scalar }
        var isIdle = true
        for index in scalars.indices {
            if isIdle, let first, scalars[index] != first { continue }
            let fits = masks[scalars[index]] ?? anyMask
            var carry: UInt64 = 1
            var live: UInt64 = 0
            for word in 0..<words {
                let shifted = state[word] << 1 | carry
                carry = state[word] >> 63
                state[word] = shifted & fits[word]
                live |= state[word]
            }
            isIdle = live == 0
            if state[last] & lastBit != 0, accepts(index + 1 - count, index + 1) { return index + 1 }
        }
        return nil
    }
}
