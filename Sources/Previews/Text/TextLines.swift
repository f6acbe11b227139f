// SPDX-License-Identifier: Apache-2.0

/// Writes lines for a terminal under what they stand in: quotations and items of lists, nested.
struct TextLines {
    /// What stands in front of lines.
    private struct Container {
        /// In front of the first line.
        var first: String
        /// In front of the others; as wide.
        var rest: String
        var hasLine = false
    }

    private(set) var pieces: [TextPiece] = []
    /// Whether not everything had room.
    private(set) var isFull = false
    private let width: Int?
    private var containers: [Container] = []
    private var prefixWidth = 0
    private var hasLine = false
    private var wantsBlankLine = false
    private var room: Int

    /// Where lines are not broken, what stands in front of them is bounded nevertheless.
    private static let usualWidth = 80

    /// - Parameters:
    ///   - width: Of the terminal, in columns; `nil` breaks no lines.
    ///   - limit: The most that is written, in bytes.
    init(width: Int?, limit: Int) {
        self.width = width
        room = limit
    }

    /// The columns that are left beside what stands in front; `nil` for any number.
    var available: Int? { width.map { max(1, $0 - prefixWidth) } }

    /// From here on a mark stands in front of the first line, and as many spaces or `rest` in front of the others; nothing,
    /// once that would take more than half of the width.
    mutating func open(_ mark: String, rest: String? = nil) {
        let columns = TextWidth.of(mark)
        let fits = prefixWidth + columns <= (width ?? Self.usualWidth) / 2
        let rest = rest ?? String(repeating: " ", count: columns)
        containers.append(Container(first: fits ? mark : "", rest: fits ? rest : ""))
        if fits { prefixWidth += columns }
    }

    /// Ends what was opened last. A mark beside which nothing stood is written alone.
    mutating func close() {
        if let last = containers.last, !last.hasLine, !last.first.isEmpty { add([]) }
        if let last = containers.popLast() { prefixWidth -= TextWidth.of(last.rest) }
    }

    /// A blank line is to be in front of what comes next, unless that is the first.
    mutating func separate() { wantsBlankLine = true }

    /// Writes a text, of several lines if it has line feeds or must be broken.
    mutating func addWrapped(_ text: [TextPiece]) {
        for line in Self.lines(of: TextWrapping.wrapped(text, width: available)) { add(line) }
    }

    /// Writes one line, which has no line feed.
    mutating func add(_ line: [TextPiece]) {
        guard !isFull else { return }
        if hasLine {
            append(TextPiece("\n"))
            if wantsBlankLine { append(TextPiece(blankPrefix + "\n", .faint)) }
        }
        (hasLine, wantsBlankLine) = (true, false)
        var prefix = ""
        for index in containers.indices {
            prefix += containers[index].hasLine ? containers[index].rest : containers[index].first
            containers[index].hasLine = true
        }
        if line.isEmpty { prefix = Self.trimmed(prefix) }
        if !prefix.isEmpty { append(TextPiece(prefix, .faint)) }
        line.forEach { append($0) }
    }

    /// In front of a blank line: of what had a line before.
    private var blankPrefix: String { Self.trimmed(containers.prefix(while: \.hasLine).map(\.rest).joined()) }

    private mutating func append(_ piece: TextPiece) {
        guard !isFull else { return }
        room -= piece.text.utf8.count
        guard room >= 0 else { return isFull = true }
        if let last = pieces.last, last.style == piece.style {
            pieces[pieces.count - 1].text += piece.text
        } else {
            pieces.append(piece)
        }
    }

    private static func trimmed(_ text: String) -> String { String(text.reversed().drop { $0 == " " }.reversed()) }

    /// A text cut at its line feeds.
    static func lines(of text: [TextPiece]) -> [[TextPiece]] {
        var lines: [[TextPiece]] = [[]]
        for piece in text {
            for (number, part) in piece.text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                if number > 0 { lines.append([]) }
                if !part.isEmpty { lines[lines.count - 1].append(TextPiece(String(part), piece.style)) }
            }
        }
        return lines
    }
}
