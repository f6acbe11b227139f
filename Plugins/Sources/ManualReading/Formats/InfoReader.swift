// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// Reads a Texinfo manual: texts separated by U+001F, each with a line that contains its name.
enum InfoReader {
    private static let maximumSections = 20_000

    static func read(_ bytes: [UInt8]) -> ManualContent {
        var content = ManualContent()
        // Tags for programs, such as "\0\b[index\0\b]", consist of zeros and backspaces with a
        // word.
        let (text, reading) = TextReading.text(of: withoutTags(bytes))
        content.reading = reading
        if reading == .binary { content.problem = .notText }
        var (size, sections) = (0, 0)
        for (index, part) in text.split(separator: "\u{1F}", omittingEmptySubsequences: false).enumerated() {
            var part = part
            if part.first?.isNewline == true { part = part.dropFirst() }
            if index == 0 {
                content.summary = summary(part)
                continue
            }
            guard let name = name(part), sections < maximumSections else { continue }
            let body = String(part[(part.firstIndex(where: \.isNewline) ?? part.endIndex)...].trimmed)
            if content.title == nil { content.title = title(body) }
            guard size + name.utf8.count + body.utf8.count <= ManualContent.maximumText else {
                content.missing += part.utf8.count
                continue
            }
            size += name.utf8.count + body.utf8.count + 3
            sections += 1
            content.blocks.append(ManualBlock(.section, name))
            content.blocks.append(ManualBlock(.preformatted, body))
        }
        // A file from another program whose name looks like a Texinfo file.
        if content.blocks.isEmpty, !text.isEmpty {
            content.blocks = [ManualBlock(.preformatted, text.prefix(maximumUTF8Bytes: ManualContent.maximumText))]
        }
        return content
    }

    private static func withoutTags(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.contains(0) else { return bytes }
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0, index + 2 < bytes.count, bytes[index + 1] == 0x08,
                bytes[index + 2] == UInt8(ascii: "[")
            {
                // The end tag "\0\b]" is nearby.
                let end = min(index + 200, bytes.count - 2)
                if let close = (index + 3..<max(end, index + 3)).first(where: {
                    bytes[$0] == 0 && bytes[$0 + 1] == 0x08 && bytes[$0 + 2] == UInt8(ascii: "]")
                }) {
                    index = close + 3
                    continue
                }
            }
            if bytes[index] != 0 { kept.append(bytes[index]) }
            index += 1
        }
        return kept
    }

    /// Returns the name in the line `File: gcc.info,  Node: Overview,  Next: …`; nil for a table.
    private static func name(_ part: Substring) -> String? {
        let line = part.prefix { !$0.isNewline }.prefix(1_000)
        guard line.hasPrefix("File:"), let node = line.range(of: "Node:") else { return nil }
        let name = line[node.upperBound...].prefix { $0 != "," && $0 != "\t" }.trimmed
        return name.isEmpty ? nil : String(name)
    }

    /// Returns the underlined line at the beginning of a section.
    private static func title(_ body: String) -> String? {
        let lines = body.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: true).prefix(2)
        guard lines.count == 2, let mark = lines[1].first, "*=-".contains(mark), lines[1].allSatisfy({ $0 == mark })
        else {
            return nil
        }
        return String(lines[0]).summary(maximumCharacters: 200)
    }

    /// Returns the description of the manual in the Info directory:
    /// `* Bash: (bash).  The GNU Bourne-Again SHell.`
    private static func summary(_ preamble: Substring) -> String? {
        guard let start = preamble.range(of: "START-INFO-DIR-ENTRY") else { return nil }
        let entry = preamble[start.upperBound...].prefix(4_000).split(separator: "\n").first { $0.hasPrefix("* ") }
        guard let entry, let end = entry.range(of: ").") ?? entry.range(of: "::") else { return nil }
        let text = String(entry[end.upperBound...]).summary(maximumCharacters: 200)
        return text.isEmpty ? nil : text
    }
}
