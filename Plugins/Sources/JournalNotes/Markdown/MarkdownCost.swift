// SPDX-License-Identifier: Apache-2.0

/// Detects Markdown that cmark-gfm would parse very slowly or expand to very large output.
///
/// The system's parser (0.29.0.gfm.6) has quadratic cases. A note that triggers one, on purpose or
/// by accident, would keep the extension busy until the host stops it, on every reindex. Measured
/// with 80 KB each: repeated `|` took 3.3 s; repeated `![[]()` took 0.24 s; a list 10,000 deep
/// before 20,000 blank lines took 2 s. A table of 500 columns and 1,000 rows of `|a|` (6 KB)
/// produces 5 MB of HTML. A tree takes up to 180 bytes per byte of Markdown. Within these limits,
/// none of about forty hostile 4 MiB notes took more than 6 s or 200 MB. Notes beyond the limits
/// are shown and indexed as plain text.
enum MarkdownCost {
    /// The maximum number of characters in one paragraph that may begin an inline element.
    static let maximumDelimiters = 8_000
    static let maximumPipesPerLine = 2_000
    /// The maximum number of cells (rows times columns) in possible tables, summed over the note.
    /// The parser adds missing cells, so they are counted too.
    static let maximumCells = 200_000
    /// The maximum number of bytes before the text of a line: indentation, and quotation and list
    /// markers.
    static let maximumPrefix = 256
    /// The maximum number of nodes in the tree, each of up to 180 bytes. 12 MiB of prose produce
    /// about 1.6 million nodes.
    static let maximumNodes = 2_000_000

    /// Returns `true` if the Markdown is within the limits, in one pass over the bytes.
    static func isAcceptable(_ markdown: Substring) -> Bool {
        var cells = 0
        var nodes = 0
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
                    cells += block.cells
                    block = Block()
                }
                nodes += block.add(line)
                guard nodes <= maximumNodes, block.delimiters <= maximumDelimiters,
                    block.pipesPerLine <= maximumPipesPerLine,
                    cells + block.cells <= maximumCells
                else { return false }
            }
            return true
        }
    }

    /// A range of lines that completely contains each of its paragraphs and tables; it may contain
    /// several.
    private struct Block {
        var delimiters = 0
        var pipesPerLine = 0
        var linesWithPipes = 0

        var cells: Int { pipesPerLine * linesWithPipes }

        /// Adds a line and returns an upper bound for its number of nodes.
        mutating func add(_ line: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
            var pipes = 0
            var others = 0
            let delimitersBefore = delimiters
            for byte in line {
                switch byte {
                case UInt8(ascii: "|"): pipes += 1
                case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: "*"), UInt8(ascii: "_"), UInt8(ascii: "~"),
                    UInt8(ascii: "`"), UInt8(ascii: "<"), UInt8(ascii: "@"), UInt8(ascii: "!"), UInt8(ascii: "&"):
                    delimiters += 1
                // In the parser, each of these characters ends a text node, whatever follows.
                case UInt8(ascii: "w"), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "\\"):
                    others += 1
                default: break
                }
            }
            if pipes > 0 { linesWithPipes += 1 }
            pipesPerLine = max(pipesPerLine, pipes)
            // A list, its item, a paragraph and a break; each special byte, and the text after it.
            return (line.isEmpty ? 1 : 4) + 2 * (pipes + others + delimiters - delimitersBefore)
        }
    }

    /// Returns the length of the prefix before a line's text. `beginsBlock` is `true` if the line
    /// cannot continue the paragraph before it: it is blank, a heading, or a list item indented by
    /// at most three spaces.
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
        // A line that contains only markers. An empty list item cannot interrupt a paragraph.
        let isBlank = line.allSatisfy { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        return (isBlank ? 0 : line.count, isBlank)
    }
}
