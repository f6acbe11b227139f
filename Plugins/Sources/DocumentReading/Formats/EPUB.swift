// SPDX-License-Identifier: Apache-2.0
import FileReading
import Foundation

/// Books in EPUB 2 and 3.
enum EPUB {
    private static let maximumChapters = 5000

    static func read(_ file: OpenedFile) -> DocumentContent {
        let endings = [".opf", ".xml", ".xhtml", ".html", ".htm"]
        let package = PackageReader(file) { name in
            let name = name.lowercased()
            return endings.contains { name.hasSuffix($0) }
        }
        var content = DocumentContent()
        content.problem = package.problem
        let container = ContainerVisitor()
        _ = package.members["META-INF/container.xml"].map { container.visit($0) }
        let fallback = package.members.keys.filter { $0.hasSuffix(".opf") }.min()
        guard let name = container.path ?? fallback, let opf = package.members[name] else {
            content.problem = content.problem ?? .damaged
            return content
        }
        let properties = DocumentProperties()
        let problem = properties.visit(opf)
        content.problem = content.problem ?? problem
        content.take(properties)
        content.created = properties.date("date")
        content.modified = properties.date("modified")
        let spine = SpineVisitor()
        _ = spine.visit(opf)
        if let cover = spine.cover.map({ PackageReader.resolve(decoded($0), beside: name) }) {
            content.thumbnail = PackageReader(file) { $0 == cover }.members[cover]
                .flatMap { DocumentContent.Picture($0) }
        }
        var collector = TextCollector()
        var seen: Set<String> = []
        for chapter in spine.chapters.prefix(maximumChapters) {
            let member = PackageReader.resolve(decoded(chapter), beside: name)
            guard let bytes = package.members[member], seen.insert(member).inserted else { continue }
            let page = HTMLText(page: TextReading.text(of: bytes).text)
            if !page.isComplete { content.problem = content.problem ?? .tooDeep }
            for block in page.blocks {
                collector.append(block.text)
                collector.endLine()
            }
        }
        if seen.isEmpty { content.problem = content.problem ?? .damaged }
        content.take(collector)
        return content
    }

    private static func decoded(_ address: String) -> String {
        let path = address.prefix { $0 != "#" && $0 != "?" }
        return String(path).removingPercentEncoding ?? String(path)
    }

    private final class ContainerVisitor: MarkupVisitor {
        private(set) var path: String?

        override func start(_ name: String, _ attributes: MarkupAttributes) {
            if name == "rootfile", path == nil { path = attributes["full-path"] }
        }
    }

    private final class SpineVisitor: MarkupVisitor {
        private var items: [String: String] = [:]
        private var order: [String] = []
        private var seen: Set<String> = []
        private var coverItem: String?

        var chapters: [String] { order.compactMap { items[$0] } }
        var cover: String? { coverItem.flatMap { items[$0] } }

        override func start(_ name: String, _ attributes: MarkupAttributes) {
            switch name {
            case "item":
                guard let identifier = attributes["id"], let address = attributes["href"] else { return }
                items[identifier] = address
                if attributes["properties"] == "cover-image" { coverItem = identifier }
            case "itemref":
                guard let identifier = attributes["idref"], seen.insert(identifier).inserted else { return }
                order.append(identifier)
            case "meta": if attributes["name"] == "cover" { coverItem = coverItem ?? attributes["content"] }
            default: break
            }
        }
    }
}
