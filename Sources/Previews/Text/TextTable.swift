// SPDX-License-Identifier: Apache-2.0

/// A table for a terminal. All cells are read before it is written, because a column is as wide as
/// its widest cell.
struct TextTable {
    enum Alignment {
        case left
        case centre
        case right
    }
    struct Cell {
        var lines: [[TextPiece]]
        var isHeader: Bool
        var alignment: Alignment
        /// The number of columns that the cell spans; empty cells follow it.
        var span: Int
    }

    private var rows: [[Cell]] = []
    private var count = 0

    /// The limits of the layout.
    static let maximumCells = 100_000
    static let maximumColumns = 64
    /// The maximum column width if lines are not broken. Wider cells shift the rest of their row.
    private static let usualColumnWidth = 60
    /// The minimum readable column width.
    private static let minimumColumnWidth = 6
    private static let bar = " │ "

    var isFull: Bool { count >= Self.maximumCells }

    mutating func beginRow() {
        count += 1
        rows.append([])
    }

    /// Adds a cell to the current row.
    ///
    /// - Parameter span: The number of columns that the cell spans.
    mutating func add(_ text: [TextPiece], isHeader: Bool, alignment: Alignment, span: Int) {
        if rows.isEmpty { beginRow() }
        let row = rows.count - 1
        for index in 0..<max(1, span) where rows[row].count < Self.maximumColumns {
            count += 1
            rows[row].append(
                Cell(
                    lines: index == 0 ? TextLines.lines(of: text) : [[]], isHeader: isHeader, alignment: alignment,
                    span: index == 0 ? span : 1))
        }
    }

    /// Writes the table. If its columns do not fit, each row is written as wrapped text.
    func write(to output: inout TextLines) {
        let rows = rows.filter { !$0.isEmpty }
        let header = rows.prefix { $0.allSatisfy(\.isHeader) }.count
        let widths = widths(rows, available: output.available)
        for (number, row) in rows.enumerated() where !output.isFull {
            // A cell that spans all columns belongs to none of them.
            if let widths, row[0].span < max(2, widths.count) {
                write(row, widths, to: &output)
            } else {
                output.addWrapped(Self.joined(row))
            }
            if let widths, number + 1 == header, header < rows.count {
                output.add([
                    TextPiece(widths.map { String(repeating: "─", count: $0) }.joined(separator: "─┼─"), .faint)
                ])
            }
        }
    }

    private func write(_ row: [Cell], _ widths: [Int], to output: inout TextLines) {
        let isBroken = output.available != nil
        let cells = zip(row, widths).map { cell, width in
            isBroken
                ? cell.lines.flatMap { TextLines.lines(of: TextWrapping.wrapped($0, width: width)) } : cell.lines
        }
        for number in 0..<(cells.map(\.count).max() ?? 0) {
            guard !output.isFull else { return }
            var line: [TextPiece] = []
            // Spaces that are only written if further text follows.
            var padding = 0
            for (column, width) in widths.enumerated() {
                if column > 0 {
                    line.append(TextPiece(String(repeating: " ", count: padding) + Self.bar, .faint))
                    padding = 0
                }
                let text = column < cells.count && number < cells[column].count ? cells[column][number] : []
                let free = max(0, width - TextWidth.of(text.map(\.text).joined()))
                let before =
                    switch row.indices.contains(column) ? row[column].alignment : .left {
                    case .left: 0
                    case .centre: free / 2
                    case .right: free
                    }
                if !text.isEmpty {
                    line += (before > 0 ? [TextPiece(String(repeating: " ", count: before))] : []) + text
                }
                padding = text.isEmpty ? width : free - before
            }
            while let last = line.last, last.text.allSatisfy({ $0 == " " }) { line.removeLast() }
            if line.last?.text.hasSuffix(Self.bar) == true { line[line.count - 1].text.removeLast() }
            output.add(line)
        }
    }

    /// Returns the column widths; `nil` if the columns do not fit.
    private func widths(_ rows: [[Cell]], available: Int?) -> [Int]? {
        var widths = [Int](repeating: 1, count: rows.map(\.count).max() ?? 0)
        for row in rows {
            for (column, cell) in row.enumerated() where cell.span <= 1 {
                for line in cell.lines { widths[column] = max(widths[column], TextWidth.of(line.map(\.text).joined())) }
            }
        }
        guard let available else { return widths.map { min($0, Self.usualColumnWidth) } }
        let room = available - Self.bar.count * max(0, widths.count - 1)
        if widths.reduce(0, +) <= room { return widths }
        guard room >= widths.count * Self.minimumColumnWidth else { return nil }
        // The widest columns are narrowed until all columns fit.
        var left = room
        var result = widths
        for (place, column) in widths.indices.sorted(by: { widths[$0] < widths[$1] }).enumerated() {
            result[column] = min(widths[column], left / (widths.count - place))
            left -= result[column]
        }
        return result
    }

    private static func joined(_ row: [Cell]) -> [TextPiece] {
        var text: [TextPiece] = []
        for cell in row {
            let content = Array(cell.lines.joined(separator: [TextPiece(" ")]))
            guard !content.isEmpty else { continue }
            if !text.isEmpty { text.append(TextPiece(bar, .faint)) }
            text += content
        }
        return text
    }
}
