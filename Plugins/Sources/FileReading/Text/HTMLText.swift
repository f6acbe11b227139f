// SPDX-License-Identifier: Apache-2.0
import CMarkup

/// The text of an HTML fragment or page, read with libxml2's SAX parser, which builds no tree.
///
/// Leaves out comments and the contents of `script`, `style`, `template` and similar elements. From
/// attributes, it reads visible text (`alt`, `title`) and link URLs.
package struct HTMLText {
    /// A block of text.
    package struct Block: Equatable, Sendable {
        /// The heading level, 1 to 6; 0 for other blocks.
        package var level: Int
        package var text: String

        package init(level: Int, text: String) {
            self.level = level
            self.text = text
        }
    }

    /// The maximum number of UTF-8 bytes that are read from a fragment.
    static let maximumSize = 1 << 20
    /// The maximum number of `meta` elements that are read.
    private static let maximumMetadata = 200

    package private(set) var blocks: [Block] = []
    package private(set) var addresses: [String] = []
    /// The `title` of a page.
    package private(set) var title: String?
    /// The `meta` elements of a page: the content, keyed by the name or property in lower case.
    package private(set) var metadata: [String: String] = [:]
    /// The language of the `html` element.
    package private(set) var language: String?
    /// `false` if the rest was not read because elements were nested too deeply.
    package private(set) var isComplete = true

    private var current = ""
    private var level = 0
    /// The number of open elements whose text is not displayed.
    private var hiddenDepth = 0
    private var preformattedDepth = 0
    private var isInTitle = false

    /// - Parameter html: A fragment. Its end closes all open elements.
    package init(_ html: String) {
        // Wrapped, so that text before the first element also has a parent.
        self.init(source: "<html><body>" + html.prefix(maximumUTF8Bytes: Self.maximumSize))
    }

    /// - Parameter page: A complete page, of any size.
    package init(page: String) { self.init(source: page) }

    private init(source: String) {
        let handler = markup_handler(
            start: { context, name, attributes in HTMLText.with(context) { $0.start(HTMLText.string(name), attributes) }
            },
            end: { context, name in HTMLText.with(context) { $0.end(HTMLText.string(name)) } },
            text: { context, text, length in HTMLText.with(context) { $0.append(text, length) } })
        var source = source
        let result = withUnsafeMutablePointer(to: &self) { this in
            source.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text in
                    withUnsafePointer(to: handler) { html_read(text.baseAddress, text.count, $0, this) }
                }
            }
        }
        isComplete = result == MARKUP_READ
        endBlock()
    }

    private static func with(_ context: UnsafeMutableRawPointer?, _ body: (inout HTMLText) -> Void) {
        guard let this = context?.assumingMemoryBound(to: HTMLText.self) else { return }
        body(&this.pointee)
    }

    private static func string(_ bytes: UnsafePointer<CChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }

    private mutating func start(_ name: String, _ attributes: UnsafePointer<UnsafePointer<CChar>?>?) {
        if hiddenDepth > 0 || name == "html" { startHead(name, attributes) }
        if Self.hidden.contains(name) { hiddenDepth += 1 }
        if Self.divides.contains(name) { endBlock() }
        if name == "pre" || name == "textarea" { preformattedDepth += 1 }
        if name == "br", hiddenDepth == 0 { current += "\n" }
        if let level = Self.headingLevel(name) { self.level = level }
        guard hiddenDepth == 0, var attribute = attributes else { return }
        while let key = attribute.pointee {
            let value = Self.string(attribute[1])
            switch Self.string(key) {
            case "alt", "title":
                if !value.isEmpty { current += (current.last?.isWhitespace ?? true ? "" : " ") + value + " " }
            case "href": addresses.append(value)
            default: break
            }
            attribute += 2
        }
    }

    /// Reads an element in the head.
    private mutating func startHead(_ name: String, _ attributes: UnsafePointer<UnsafePointer<CChar>?>?) {
        switch name {
        case "title": isInTitle = title == nil
        case "html" where language == nil:
            let values = Self.values(attributes)
            language = values["lang"] ?? values["xml:lang"]
        case "meta" where metadata.count < Self.maximumMetadata:
            let values = Self.values(attributes)
            guard let key = values["name"] ?? values["property"], let content = values["content"],
                metadata[key.lowercased()] == nil
            else { return }
            metadata[key.lowercased()] = content.prefix(maximumUTF8Bytes: 4096)
        default: break
        }
    }

    private static func values(_ attributes: UnsafePointer<UnsafePointer<CChar>?>?) -> [String: String] {
        guard var attribute = attributes else { return [:] }
        var values: [String: String] = [:]
        while let key = attribute.pointee {
            if values.count < 32 { values[string(key)] = string(attribute[1]) }
            attribute += 2
        }
        return values
    }

    private mutating func end(_ name: String) {
        if name == "title" { isInTitle = false }
        if Self.hidden.contains(name), hiddenDepth > 0 { hiddenDepth -= 1 }
        if name == "td" || name == "th", !current.isEmpty { current += "\t" }
        if Self.divides.contains(name) { endBlock() }
        if name == "pre" || name == "textarea", preformattedDepth > 0 { preformattedDepth -= 1 }
    }

    private mutating func append(_ text: UnsafePointer<CChar>?, _ length: Int) {
        guard hiddenDepth == 0 || isInTitle, let text, length > 0 else { return }
        if isInTitle {
            let piece = String(decoding: UnsafeRawBufferPointer(start: text, count: min(length, 1024)), as: UTF8.self)
            title = ((title ?? "") + piece).prefix(maximumUTF8Bytes: 1024)
            return
        }
        let piece = String(decoding: UnsafeRawBufferPointer(start: text, count: length), as: UTF8.self)
        if preformattedDepth > 0 {
            current += piece
            return
        }
        // Collapses white space between words into one space.
        for scalar in piece.unicodeScalars {
            if scalar.value <= 0x20 {
                if let last = current.utf8.last, last > 0x20 { current += " " }
            } else {
                current.unicodeScalars.append(scalar)
            }
        }
    }

    private mutating func endBlock() {
        let text = current.trimmed
        if !text.isEmpty { blocks.append(Block(level: level, text: text)) }
        current = ""
        level = 0
    }

    /// The text as HTML that contains only headings and paragraphs.
    package var html: String {
        blocks.map { block in
            let name = block.level > 0 ? "h\(block.level)" : "p"
            return "<\(name)>\(block.text.escapedForHTML)</\(name)>\n"
        }
        .joined()
    }

    private static func headingLevel(_ name: String) -> Int? {
        guard name.utf8.count == 2, name.hasPrefix("h"), let level = Int(name.dropFirst()), (1...6).contains(level)
        else {
            return nil
        }
        return level
    }

    private static let hidden: Set<String> = [
        "script", "style", "template", "noscript", "head", "object", "iframe", "svg", "math",
    ]

    private static let divides: Set<String> = [
        "address", "article", "aside", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div",
        "dl", "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr",
        "html", "legend", "li",
        "main", "menu", "nav", "ol", "option", "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead",
        "tr", "ul", "video",
    ]
}
