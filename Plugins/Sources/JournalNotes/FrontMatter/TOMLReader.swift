// SPDX-License-Identifier: Apache-2.0
import CTOML
import FileReading

/// Reads a TOML block with toml++: as a whole if it is valid, otherwise key by key.
struct TOMLReader {
    /// The maximum number of dots in a text that is parsed. Each dot may add a level of tables, and
    /// toml++ does not limit the depth: 2,000 levels overflowed a stack of 512 KiB.
    private static let maximumDots = 512
    private static let maximumWork = 512 << 10

    private var frontMatter = FrontMatter()
    private var work = 0

    /// Reads a block; nil if most of it is not TOML.
    static func read(_ block: Substring) -> FrontMatter? {
        var reader = TOMLReader()
        if reader.parse(String(block), table: "") { return reader.frontMatter }
        return reader.recover(LineIterator(block).map { $0 }) ? reader.frontMatter : nil
    }

    private mutating func parse(_ toml: String, table: String) -> Bool {
        work += toml.utf8.count
        guard work <= Self.maximumWork,
            toml.utf8.reduce(0, { $0 + ($1 == UInt8(ascii: ".") ? 1 : 0) }) <= Self.maximumDots
        else { return false }
        var visit = Visit(prefix: table.isEmpty ? "" : table + ".", frontMatter: frontMatter)
        var toml = toml
        let isRead = toml.withUTF8 { bytes in
            withUnsafeMutablePointer(to: &visit) { visit in
                bytes.withMemoryRebound(to: CChar.self) { toml_visit($0.baseAddress, $0.count, take, visit) }
            }
        }
        guard isRead == 1 else { return false }
        frontMatter = visit.frontMatter
        return true
    }

    fileprivate struct Visit {
        let prefix: String
        var frontMatter: FrontMatter
    }

    private mutating func recover(_ lines: [Substring]) -> Bool {
        let starts = lines.indices.filter { Self.beginsEntry(lines[$0]) } + [lines.count]
        var table = ""
        var (read, unread) = (0, 0)
        for (start, end) in zip(starts, starts.dropFirst()) {
            let entry = lines[start..<end]
            let header = lines[start].trimmed
            if header.first == "[" {
                table = String(header.drop { $0 == "[" }.prefix { $0 != "]" })
                read += 1
            } else if parse(entry.joined(separator: "\n"), table: table) {
                read += 1
            } else if let property = PropertyLine(toml: lines[start]) {
                let key = table.isEmpty ? property.key : table + "." + property.key
                for value in property.values { frontMatter.append(.text(value), to: key) }
                for line in entry.dropFirst() where !line.trimmed.hasPrefix("#") { frontMatter.append(leftover: line) }
                read += 1
            } else {
                for line in entry { frontMatter.append(leftover: line) }
                unread += 1
            }
        }
        return read > 0 && read >= unread
    }

    /// Returns `true` for an unindented line with a key or a table name. Other lines belong to the
    /// preceding entry.
    private static func beginsEntry(_ line: Substring) -> Bool {
        guard let first = line.first, !first.isWhitespace, !"#]}".contains(first) else { return false }
        return true
    }
}

private func take(
    context: UnsafeMutableRawPointer?, key: UnsafePointer<CChar>?, keyLength: Int, kind: toml_kind,
    text: UnsafePointer<CChar>?, textLength: Int
) {
    func string(_ bytes: UnsafePointer<CChar>?, _ count: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
    guard let visit = context?.assumingMemoryBound(to: TOMLReader.Visit.self) else { return }
    let text = string(text, textLength)
    let value: FrontMatterValue =
        switch kind {
        case TOML_INTEGER: Int(text).map { .integer($0, source: text) } ?? .text(text)
        case TOML_REAL: Double(text).map { .real($0, source: text) } ?? .text(text)
        case TOML_FLAG: .flag(text == "true", source: text)
        default: .text(text)
        }
    let key = string(key, min(keyLength, FrontMatter.maximumKey))
    visit.pointee.frontMatter.append(value, to: visit.pointee.prefix + key)
}
