// SPDX-License-Identifier: Apache-2.0

/// Tells Markdown that cmark-gfm would take very long for, or make very much of, from Markdown that it can be given.
///
/// The parser of the system (0.29.0.gfm.6) has quadratic cases; one note made for them, or by accident, would keep the
/// extension busy until it is stopped, again and again. Measured with 80 KB each: `|` repeated 3.3 s; `![[]()` repeated
/// 0.24 s; a list 10,000 deep before 20,000 blank lines 2 s; a table of 500 columns and 1,000 rows `|a|` (6 KB) makes
/// 5 MB of HTML. Under the limits here the worst of them stay near one second per megabyte. Notes beyond them are shown
/// and indexed as plain text.
enum MarkdownCost {
    /// Characters that may begin an inline element, in one paragraph.
    static let maximumDelimiters = 8_000
    static let maximumPipesPerLine = 2_000
    /// Rows times columns of what may be one table; summed over the note, since cells that are missing are made up.
    static let maximumCells = 200_000
    /// Bytes before the text of a line: indentation and the marks of quotations and lists.
    static let maximumPrefix = 512

    /// One pass over the bytes.
    static func isAcceptable(_ markdown: Substring) -> Bool {
        var total = 0
        var block = Block()
        var markdown = markdown
        return markdown.withUTF8 { bytes in
            var start = 0
            while start < bytes.count {
                let end = bytes[start...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? bytes.count
                let line = bytes[start..<end]
                start = end + 1
                let prefix = Self.prefix(of: line)
                guard prefix.length <= maximumPrefix else { return false }
                if prefix.beginsBlock {
                    total += block.cells
                    block = Block()
                }
                block.add(line)
                guard block.delimiters <= maximumDelimiters, block.pipesPerLine <= maximumPipesPerLine,
                    total + block.cells <= maximumCells
                else { return false }
            }
            return true
        }
    }

    /// Lines without a blank one between them; perhaps less than a paragraph of the note, never more.
    private struct Block {
        var delimiters = 0
        var pipesPerLine = 0
        var linesWithPipes = 0

        var cells: Int { pipesPerLine * linesWithPipes }

        mutating func add(_ line: Slice<UnsafeBufferPointer<UInt8>>) {
            var pipes = 0
            for byte in line {
                switch byte {
                case UInt8(ascii: "|"): pipes += 1
                case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"),
                    UInt8(ascii: "`"), UInt8(ascii: "<"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "&"):
                    delimiters += 1
                default: break
                }
            }
            if pipes > 0 { linesWithPipes += 1 }
            pipesPerLine = max(pipesPerLine, pipes)
        }
    }

    /// The bytes before a line's text, and whether the line cannot belong to the paragraph before it: it is blank, a
    /// heading, or a list item that is indented by at most three spaces.
    private static func prefix(of line: Slice<UnsafeBufferPointer<UInt8>>) -> (length: Int, beginsBlock: Bool) {
        var index = line.startIndex
        var beginsBlock = false
        while index < line.endIndex {
            let byte = line[index]
            let next = index + 1 < line.endIndex ? line[index + 1] : nil
            let isFollowedBySpace = next == UInt8(ascii: " ") || next == UInt8(ascii: "\t")
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: ">"): break
            case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "*"):
                guard isFollowedBySpace else { return (index - line.startIndex, beginsBlock) }
                let indentation = line[line.startIndex..<index]
                if indentation.count <= 3, indentation.allSatisfy({ $0 == UInt8(ascii: " ") }) { beginsBlock = true }
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: ")"): break
            case UInt8(ascii: "#"): return (index - line.startIndex, beginsBlock || index == line.startIndex)
            default: return (index - line.startIndex, beginsBlock)
            }
            index += 1
        }
        // A line of nothing but marks: an empty list item cannot interrupt a paragraph.
        let isBlank = line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return (isBlank ? 0 : line.count, isBlank)
    }
}
