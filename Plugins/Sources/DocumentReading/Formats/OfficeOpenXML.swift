// SPDX-License-Identifier: Apache-2.0
import FileReading

/// Microsoft Office documents since 2007 (Office Open XML, ISO/IEC 29500).
enum OfficeOpenXML {
    private static let maximumParts = 5000

    static func read(_ file: OpenedFile, _ format: DocumentKind.Format) -> DocumentContent {
        let folder =
            switch format {
            case .presentation: "ppt/"
            case .spreadsheet: "xl/"
            default: "word/"
            }
        let package = PackageReader(file) { name in
            let isText = name.hasPrefix(folder) && (name.hasSuffix(".xml") || name.hasSuffix(".rels"))
            return isText && !isForm(name) || name.hasPrefix("docProps/")
        }
        var content = DocumentContent()
        content.problem = package.problem
        let properties = DocumentProperties()
        for name in ["docProps/core.xml", "docProps/app.xml"] { _ = package.members[name].map { properties.visit($0) } }
        content.take(properties)
        content.thumbnail = ["docProps/thumbnail.jpeg", "docProps/thumbnail.png"].lazy
            .compactMap { package.members[$0] }.first.flatMap { DocumentContent.Picture($0) }
        var reader = Reader(members: package.members)
        switch format {
        case .presentation: reader.readSlides()
        case .spreadsheet: reader.readSheets()
        default: reader.readText()
        }
        content.problem = content.problem ?? reader.problem
        content.take(reader.collector)
        if reader.parts > 0 { content.pageCount = reader.parts }
        return content
    }

    /// Returns `true` for parts that describe a document's appearance.
    private static func isForm(_ name: String) -> Bool {
        [
            "theme/", "slideMasters/", "slideLayouts/", "styles.xml", "fontTable.xml", "calcChain.xml", "settings.xml",
        ]
        .contains { name.contains($0) }
    }

    private struct Reader {
        let members: [String: [UInt8]]
        var collector = TextCollector()
        var problem: DocumentProblem?
        /// The number of slides or sheets.
        var parts = 0

        init(members: [String: [UInt8]]) { self.members = members }

        mutating func readText() {
            guard let document = members["word/document.xml"] else {
                problem = .damaged
                return
            }
            append(document)
            // Notes, comments, headers and footers follow the text, each once.
            var seen: Set<[UInt8]> = []
            for name in members.keys.sorted() where Self.isBesideText(name) {
                guard let xml = members[name], seen.insert(xml).inserted else { continue }
                collector.endLine()
                append(xml)
            }
        }

        private static func isBesideText(_ name: String) -> Bool {
            let beginnings = ["footnotes", "endnotes", "comments.", "header", "footer"]
            return name.hasSuffix(".xml") && beginnings.contains { name.hasPrefix("word/" + $0) }
        }

        private mutating func append(_ xml: [UInt8]) {
            let visitor = OfficeTextVisitor(collector)
            // Cleared here, so that the visitor's text has a single owner.
            collector = TextCollector()
            let problem = visitor.visit(xml)
            self.problem = self.problem ?? problem
            collector = visitor.collector
        }

        mutating func readSlides() {
            for slide in self.parts(of: "ppt/presentation.xml", element: "sldId", folder: "ppt/slides/slide") {
                if parts > 0 { collector.endPage() }
                parts += 1
                if let xml = members[slide.member] { append(xml) }
                for notes in relations(of: slide.member).values where notes.contains("notesSlides/") {
                    collector.endLine()
                    if let xml = members[notes] { append(xml) }
                }
            }
            if parts == 0 { problem = problem ?? .damaged }
        }

        mutating func readSheets() {
            let strings = SharedStringsVisitor()
            if let xml = members["xl/sharedStrings.xml"] { problem = strings.visit(xml) ?? problem }
            for sheet in self.parts(of: "xl/workbook.xml", element: "sheet", folder: "xl/worksheets/sheet") {
                if parts > 0 { collector.endPage() }
                parts += 1
                if let name = sheet.name { collector.append(name.prefix(maximumUTF8Bytes: 200) + "\n") }
                guard let xml = members[sheet.member] else { continue }
                let visitor = SheetVisitor(collector, strings: strings.strings)
                collector = TextCollector()
                let problem = visitor.visit(xml)
                self.problem = self.problem ?? problem
                collector = visitor.collector
            }
            if parts == 0 { problem = problem ?? .damaged }
        }

        /// Returns the members that a part lists, in that order; without a list, all members in a
        /// folder.
        private mutating func parts(
            of name: String, element: String, folder: String
        ) -> [(member: String, name: String?)] {
            let list = PartListVisitor(element: element)
            if let xml = members[name] { problem = list.visit(xml) ?? problem }
            let relations = relations(of: name)
            var seen: Set<String> = []
            let listed = list.parts.prefix(maximumParts).compactMap { part in
                relations[part.relation].map { (member: $0, name: part.name) }
            }
            .filter { $0.member.hasPrefix(folder) && members[$0.member] != nil && seen.insert($0.member).inserted }
            if !listed.isEmpty { return listed }
            let names = members.keys.filter { $0.hasPrefix(folder) && $0.hasSuffix(".xml") }
            return names.sorted { ($0.utf8.count, $0) < ($1.utf8.count, $1) }.prefix(maximumParts).map { ($0, nil) }
        }

        /// Returns the targets of a part's relationships, by identifier.
        private func relations(of name: String) -> [String: String] {
            let parts = name.split(separator: "/")
            let file = parts.dropLast().joined(separator: "/") + "/_rels/" + (parts.last ?? "") + ".rels"
            guard let xml = members[file] else { return [:] }
            let visitor = RelationsVisitor()
            _ = visitor.visit(xml)
            return visitor.targets.mapValues { PackageReader.resolve($0, beside: name) }
        }
    }
}

/// The text of a document, a slide or notes: `t` elements in paragraphs `p`.
private final class OfficeTextVisitor: MarkupVisitor {
    private(set) var collector: TextCollector
    private var textDepth = 0
    private var skippedDepth = 0
    /// `true` if the last page break was explicit. Word also marks the next page.
    private var brokeExplicitly = false

    /// The elements to skip. Their text is not displayed, or it repeats the text of another
    /// element.
    private static let skipped: Set<String> = [
        "Fallback", "tabs", "tabLst", "del", "moveFrom", "instrText", "delText",
    ]

    init(_ collector: TextCollector) { self.collector = collector }

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        if skippedDepth > 0 || Self.skipped.contains(name) {
            skippedDepth += 1
            return
        }
        switch name {
        case "t": textDepth += 1
        case "tab": collector.append("\t")
        case "br" where attributes["type"] == "page":
            collector.endPage()
            brokeExplicitly = true
        case "br", "cr": collector.append("\n")
        case "noBreakHyphen": collector.append("-")
        case "lastRenderedPageBreak":
            if !brokeExplicitly { collector.endPage() }
            brokeExplicitly = false
        default: break
        }
    }

    override func end(_ name: String) {
        if skippedDepth > 0 {
            skippedDepth -= 1
            return
        }
        if name == "t" { textDepth -= 1 }
        if name == "p" { collector.endLine() }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard textDepth > 0, skippedDepth == 0 else { return }
        collector.append(bytes)
        brokeExplicitly = false
    }
}

/// The strings to which the cells in a workbook refer by number.
private final class SharedStringsVisitor: MarkupVisitor {
    private(set) var strings: [[UInt8]] = []
    private var current: [UInt8] = []
    private var textDepth = 0
    private var phoneticDepth = 0

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        switch name {
        case "si": current = []
        case "t": textDepth += 1
        case "rPh": phoneticDepth += 1
        default: break
        }
    }

    override func end(_ name: String) {
        switch name {
        case "si": strings.append(current)
        case "t": textDepth -= 1
        case "rPh": phoneticDepth -= 1
        default: break
        }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if textDepth > 0, phoneticDepth == 0 { current.append(contentsOf: bytes) }
    }
}

/// The cells in a sheet: each row is a line, with tabs between the cells.
private final class SheetVisitor: MarkupVisitor {
    private(set) var collector: TextCollector
    private let strings: [[UInt8]]
    private var isReference = false
    private var value: [UInt8] = []
    private var valueDepth = 0
    private static let maximumCell = 64 << 10

    init(_ collector: TextCollector, strings: [[UInt8]]) {
        self.collector = collector
        self.strings = strings
    }

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        switch name {
        case "c":
            isReference = attributes["t"] == "s"
            value = []
        case "v", "t": valueDepth += 1
        default: break
        }
    }

    override func end(_ name: String) {
        switch name {
        case "v", "t": valueDepth -= 1
        case "row": collector.endLine()
        case "c":
            if isReference {
                let index = Int(String(decoding: value.prefix(20), as: UTF8.self)) ?? -1
                value = strings.indices.contains(index) ? strings[index] : []
            }
            guard !value.isEmpty else { return }
            if collector.bytes.last != 0x0A, collector.hasText { collector.append("\t") }
            value.withUnsafeBufferPointer { collector.append($0) }
        default: break
        }
    }

    override func text(_ bytes: UnsafeBufferPointer<UInt8>) {
        if valueDepth > 0, value.count < Self.maximumCell { value.append(contentsOf: bytes) }
    }
}

/// The list of slides or sheets.
private final class PartListVisitor: MarkupVisitor {
    private(set) var parts: [(relation: String, name: String?)] = []
    private let element: String

    init(element: String) { self.element = element }

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        guard name == element, let relation = attributes[prefixed: "id"] else { return }
        parts.append((relation, attributes["name"]))
    }
}

private final class RelationsVisitor: MarkupVisitor {
    private(set) var targets: [String: String] = [:]

    override func start(_ name: String, _ attributes: MarkupAttributes) {
        guard name == "Relationship", attributes["TargetMode"] != "External", let identifier = attributes["Id"],
            let target = attributes["Target"]
        else { return }
        targets[identifier] = target
    }
}
