// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

extension ManualFile {
    /// Reads the manual. A fault in the contents is reported as ``ManualContent/problem``.
    ///
    /// - Parameters:
    ///   - wantsHTML: `true` if the blocks need HTML with fonts.
    ///   - pages: Returns the contents of a page that this page includes, by absolute path.
    /// - Throws: The reason why the file cannot be read at all.
    package func content(
        wantsHTML: Bool = false, pages: (_ path: String) -> [UInt8]? = { _ in nil }
    ) throws(SkipReason) -> ManualContent {
        let (bytes, problem) = try Decompression.contents(of: file, kind.compression)
        var content: ManualContent
        switch kind.format {
        case .page: content = page(bytes, wantsHTML: wantsHTML, pages)
        case .info: content = InfoReader.read(bytes)
        case .html: content = PackageTexts.readHTML(bytes)
        case .text, .markdown: content = PackageTexts.readText(bytes)
        }
        content.problem = problem ?? content.problem
        return content
    }

    /// Returns the decompressed contents of the file.
    package func contents() throws(SkipReason) -> [UInt8] {
        try Decompression.contents(of: file, kind.compression).bytes
    }

    /// The content for a manual that an earlier worker could not read.
    package static var unread: ManualContent {
        var content = ManualContent()
        content.problem = .endedWorker
        return content
    }

    private func page(_ bytes: [UInt8], wantsHTML: Bool, _ pages: (String) -> [UInt8]?) -> ManualContent {
        let (text, reading) = TextReading.text(of: bytes)
        guard reading != .binary else {
            var content = ManualContent()
            (content.reading, content.problem) = (reading, .notText)
            return content
        }
        return withoutActuallyEscaping(pages) { pages in
            let reader = RoffReader(wantsHTML: wantsHTML) { name in
                included(name).lazy.compactMap { pages($0) }.first.map { Array(TextReading.text(of: $0).text.utf8) }
            }
            reader.read(Array(text.utf8))
            guard reader.isPage || reader.alias != nil || reader.missingInclude || pageRoot != nil else {
                // A text whose name looks like a page's, such as "CHANGES-2.1".
                return PackageTexts.readText(bytes)
            }
            return content(reader, reading)
        }
    }

    private func content(_ reader: RoffReader, _ reading: TextReading) -> ManualContent {
        var content = ManualContent()
        content.reading = reading
        content.blocks = reader.output.blocks
        content.volume = reader.volume.map { $0.summary(maximumCharacters: 100) }
        content.isAlias = reader.alias != nil || isLink
        if reader.output.isFull || reader.hasExpandedTooMuch { content.problem = .tooLarge }
        if reader.missingInclude { content.problem = .missingPage }
        takeNames(&content)
        return content
    }

    /// Returns the possible paths of a page that `.so` names: `man1/zless.1`, or `zless.1` in the
    /// same folder. A page may include only pages in its own tree.
    private func included(_ name: String) -> [String] {
        let parts = name.split(separator: "/").map(String.init)
        guard let root = pageRoot, (1...2).contains(parts.count), !name.hasPrefix("/"),
            parts.allSatisfy({ !$0.hasPrefix(".") }), let last = parts.last
        else { return [] }
        let folder = parts.count == 2 ? parts[0] : path.split(separator: "/").dropLast().last.map(String.init) ?? ""
        guard folder.hasPrefix("man") else { return [] }
        let endings = ManualKind(fileName: last)?.compression == nil ? [".gz", "", ".xz", ".bz2", ".zst"] : [""]
        return endings.map { "\(root)/\(folder)/\(last)\($0)" }
    }

    /// Reads the names and the summary from the NAME section, which comes first in a page:
    /// `gzip, gunzip, zcat - compress or expand files`.
    private func takeNames(_ content: inout ManualContent) {
        guard let first = content.blocks.firstIndex(where: { $0.kind == .heading }),
            content.blocks.indices.contains(first + 1)
        else { return }
        let line = content.blocks[first + 1].text.prefix(maximumUTF8Bytes: 2_000).oneLine
        let separators = [" - ", " – ", " — ", " -- "]
        guard let (names, summary) = separators.lazy.compactMap({ Self.split(line, at: $0) }).first else { return }
        let words = names.split { $0 == "," || $0 == " " }.prefix(100).map { String($0).prefix(maximumUTF8Bytes: 200) }
        content.names = words.filter { $0.contains { $0.isLetter || $0.isNumber } }
        content.summary = summary.summary(maximumCharacters: 300)
    }

    private static func split(_ line: String, at separator: String) -> (String, String)? {
        line.range(of: separator).map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
    }
}
