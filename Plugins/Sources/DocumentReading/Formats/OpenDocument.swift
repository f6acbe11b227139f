// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Documents of LibreOffice and others (OpenDocument, ISO/IEC 26300).
enum OpenDocument {
    static func read(_ file: OpenedFile, isSpreadsheet: Bool) -> DocumentContent {
        let wanted: Set<String> = ["content.xml", "meta.xml", "META-INF/manifest.xml", "Thumbnails/thumbnail.png"]
        let package = PackageReader(file) { wanted.contains($0) }
        var content = DocumentContent()
        content.problem = package.problem
        if let xml = package.members["meta.xml"] {
            let properties = DocumentProperties()
            _ = properties.visit(xml)
            content.take(properties)
        }
        content.thumbnail = package.members["Thumbnails/thumbnail.png"].flatMap { DocumentContent.Picture($0) }
        if let manifest = package.members["META-INF/manifest.xml"], Manifest.isEncrypted(manifest) {
            content.problem = .encrypted
            return content
        }
        guard let xml = package.members["content.xml"] else {
            content.problem = content.problem ?? .damaged
            return content
        }
        let visitor = OpenDocumentVisitor(isSpreadsheet: isSpreadsheet)
        let problem = visitor.visit(xml)
        content.problem = content.problem ?? problem
        content.take(visitor.collector)
        if visitor.hasParts { content.pageCount = visitor.collector.pageBreaks + 1 }
        return content
    }

    private final class Manifest: MarkupVisitor {
        private var isEncrypted = false
        override func start(_ name: String, _ attributes: MarkupAttributes) {
            if name == "encryption-data" { isEncrypted = true }
        }

        static func isEncrypted(_ xml: [UInt8]) -> Bool {
            let manifest = Manifest()
            _ = manifest.visit(xml)
            return manifest.isEncrypted
        }
    }
}

private final class OpenDocumentVisitor: MarkupVisitor {
    private(set) var collector = TextCollector()
    /// `true` if the document has slides or sheets.
    private(set) var hasParts = false
    private let isSpreadsheet: Bool
    private var skippedDepth = 0
    private var paragraphDepth = 0

    private static let skipped: Set<String> = [
        "tracked-changes", "binary-data", "scripts", "forms", "font-face-decls", "automatic-styles",
    ]

    init(isSpreadsheet: Bool) { self.isSpreadsheet = isSpreadsheet }

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        if skippedDepth > 0 || Self.skipped.contains(name) {
            skippedDepth += 1
            return
        }
        switch name {
        case "p", "h":
            collector.endLine()
            paragraphDepth += 1
        case "s" where paragraphDepth > 0:
            let count = attributes["c"].flatMap { Int($0) } ?? 1
            collector.append(String(repeating: " ", count: min(max(1, count), 100)))
        case "tab": collector.append("\t")
        case "line-break": collector.append("\n")
        case "soft-page-break": collector.endPage()
        case "page": startPart(named: nil)
        case "table" where isSpreadsheet: startPart(named: attributes["name"])
        default: break
        }
    }

    private func startPart(named name: String?) {
        if hasParts { collector.endPage() }
        hasParts = true
        if let name { collector.append(name.prefix(maximumUTF8Bytes: 200) + "\n") }
    }

    override func end(_ name: String) {
        if skippedDepth > 0 {
            skippedDepth -= 1
            return
        }
        if name == "p" || name == "h" {
            paragraphDepth -= 1
            collector.endLine()
        }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        // Between paragraphs there is only XML white space.
        if skippedDepth == 0, paragraphDepth > 0 { collector.append(bytes) }
    }
}
