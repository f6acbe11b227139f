// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Reads package documentation: HTML and plain text. Markdown is read as plain text.
enum PackageTexts {
    static func readHTML(_ bytes: [UInt8]) -> ManualContent {
        var content = ManualContent()
        let (text, reading) = TextReading.text(of: bytes)
        content.reading = reading
        if reading == .binary { content.problem = .notText }
        let page = HTMLText(page: text)
        if !page.isComplete { content.problem = .tooLarge }
        var size = 0
        for block in page.blocks {
            size += block.text.utf8.count + 1
            guard size <= ManualContent.maximumText else {
                content.missing += block.text.utf8.count
                continue
            }
            let kind: ManualBlock.Kind = block.level == 0 ? .paragraph : block.level < 3 ? .heading : .subheading
            content.blocks.append(ManualBlock(kind, block.text))
        }
        let heading = page.blocks.first { $0.level == 1 }?.text
        content.title = (page.title ?? heading).map { $0.summary(maximumCharacters: 200) }
        if content.title?.isEmpty == true { content.title = nil }
        content.summary = page.metadata["description"].map { $0.summary(maximumCharacters: 300) }
        return content
    }

    static func readText(_ bytes: [UInt8]) -> ManualContent {
        var content = ManualContent()
        let (text, reading) = TextReading.text(of: bytes)
        content.reading = reading
        if reading == .binary { content.problem = .notText }
        let kept = text.prefix(maximumUTF8Bytes: ManualContent.maximumText)
        content.missing = text.utf8.count - kept.utf8.count
        if !kept.isEmpty { content.blocks = [ManualBlock(.preformatted, kept)] }
        let line = LineIterator(kept[...]).first { line in line.contains { $0.isLetter } }
        content.summary = line.map { String($0).summary(maximumCharacters: 300) }
        return content
    }
}
