// SPDX-License-Identifier: Apache-2.0

/// Writes terminal lines in nested containers: quotations and list items.
struct TextLines {
    /// The prefix of lines in a container.
    private struct Container {
        /// The prefix of the first line.
        var first: String
        /// The prefix of the other lines, which has the same width.
        var rest: String
        var hasLine = false
    }

    private(set) var pieces: [TextPiece] = []
    /// `true` if some of the content did not fit.
    private(set) var isFull = false
    private let width: Int?
    private var containers: [Container] = []
    private var prefixWidth = 0
    private var hasLine = false
    private var wantsBlankLine = false
    private var room: Int

    /// The assumed width if lines are not broken. It bounds the length of the prefixes.
    private static let usualWidth = 80

    /// - Parameters:
    ///   - width: The terminal width in columns; `nil` for no line breaking.
    ///   - limit: The maximum output, in bytes.
    init(width: Int?, limit: Int) {
        self.width = width
        room = limit
    }

    /// The number of columns after the prefix; `nil` for no limit.
    var available: Int? { width.map { max(1, $0 - prefixWidth) } }

    /// Opens a container. `mark` is the prefix of its first line; the prefix of the other lines is
    /// `rest`, or spaces. The prefix is omitted if all prefixes together would take more than half
    /// of the width.
    mutating func open(_ mark: String, rest: String? = nil) {
        let columns = TextWidth.of(mark)
        let fits = prefixWidth + columns <= (width ?? Self.usualWidth) / 2
        let rest = rest ?? String(repeating: " ", count: columns)
        containers.append(Container(first: fits ? mark : "", rest: fits ? rest : ""))
        if fits { prefixWidth += columns }
    }

    /// Closes the last container. If it has no lines, its mark is written on a separate line.
    mutating func close() {
        if let last = containers.last, !last.hasLine, !last.first.isEmpty { add([]) }
        if let last = containers.popLast() { prefixWidth -= TextWidth.of(last.rest) }
    }

    /// Requests a blank line before the next line, unless the next line is the first.
    mutating func separate() { wantsBlankLine = true }

    /// Writes a text on one or more lines.
    mutating func addWrapped(_ text: [TextPiece]) {
        for line in Self.lines(of: TextWrapping.wrapped(text, width: available)) { add(line) }
    }

    /// Writes one line, without a line feed.
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

    /// The prefix of a blank line, from all containers that already have a line.
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

    /// Returns a text split at its line feeds.
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
