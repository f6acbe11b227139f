// SPDX-License-Identifier: Apache-2.0

/// A tbl(1) table, which is read line by line.
struct RoffTable {
    private var separator: UInt8 = 0x09
    private var isInFormat = true
    private var isFirst = true
    /// `true` inside a cell with several lines.
    private(set) var isInText = false

    /// Returns the cells in a data line; nil for a format line.
    mutating func cells(of line: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        let text = line.reversed().drop { $0 == 0x20 || $0 == 0x09 }
        if isInFormat {
            if isFirst, text.first == UInt8(ascii: ";") { takeOptions(line) }
            isFirst = false
            if text.first == UInt8(ascii: ".") { isInFormat = false }
            return nil
        }
        if !isInText, line.allSatisfy({ $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "=") || $0 == 0x20 }) {
            return nil
        }
        var line = line
        if isInText, line.starts(with: [UInt8(ascii: "T"), UInt8(ascii: "}")]) {
            isInText = false
            line = line.dropFirst(2)
        }
        if isInText { return [line] }
        var cells = line.split(separator: separator, maxSplits: 200, omittingEmptySubsequences: false)
        if let last = cells.last, last.starts(with: [UInt8(ascii: "T"), UInt8(ascii: "{")]) {
            cells[cells.count - 1] = []
            isInText = true
        }
        return cells
    }

    private mutating func takeOptions(_ line: ArraySlice<UInt8>) {
        let name = Array("tab".utf8)
        guard line.count > name.count + 2 else { return }
        for start in line.startIndex..<(line.endIndex - name.count - 2) where line[start...].starts(with: name) {
            let rest = line[(start + name.count)...].drop { $0 == 0x20 }
            if rest.first == UInt8(ascii: "("), let byte = rest.dropFirst().first { separator = byte }
            return
        }
    }
}
