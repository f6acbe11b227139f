// SPDX-License-Identifier: Apache-2.0
import CHTML

/// The text of raw HTML in a note, read with libxml2's SAX parser, which builds no tree.
///
/// Leaves out comments and the contents of `script`, `style`, `template` and similar elements. Of
/// attributes it reads the visible texts (`alt`, `title`) and the addresses of links.
struct HTMLText {
    /// A block of text.
    struct Block: Equatable {
        /// The heading level, 1 to 6; 0 for other blocks.
        var level: Int
        var text: String
    }

    /// The number of UTF-8 bytes that are read of one piece of HTML.
    static let maximumSize = 1 << 20

    private(set) var blocks: [Block] = []
    private(set) var addresses: [String] = []

    private var current = ""
    private var level = 0
    /// The number of open elements whose text is not displayed.
    private var hiddenDepth = 0
    private var preformattedDepth = 0
    private var openElements: [String] = []

    /// - Parameter html: The HTML, which may be a fragment; its end closes all open elements.
    init(_ html: String) {
        let handler = html_handler(
            start: { context, name, attributes in HTMLText.with(context) { $0.start(HTMLText.string(name), attributes) }
            },
            end: { context, name in HTMLText.with(context) { $0.end(HTMLText.string(name)) } },
            text: { context, text, length in HTMLText.with(context) { $0.append(text, length) } })
        // Wrapped, so that text before the first element has a parent, too.
        var source = "<html><body>" + html.prefix(maximumUTF8Bytes: Self.maximumSize)
        withUnsafeMutablePointer(to: &self) { this in
            source.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) { text in
                    withUnsafePointer(to: handler) { html_read(text.baseAddress, text.count, $0, this) }
                }
            }
        }
        endBlock()
    }

    private static func with(_ context: UnsafeMutableRawPointer?, _ body: (inout HTMLText) -> Void) {
        guard let this = context?.assumingMemoryBound(to: HTMLText.self) else { return }
        body(&this.pointee)
    }

    private static func string(_ bytes: UnsafePointer<CChar>?) -> String { bytes.map { String(cString: $0) } ?? "" }

    private mutating func start(_ name: String, _ attributes: UnsafePointer<UnsafePointer<CChar>?>?) {
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

    private mutating func end(_ name: String) {
        if Self.hidden.contains(name), hiddenDepth > 0 { hiddenDepth -= 1 }
        if name == "td" || name == "th", !current.isEmpty { current += "\t" }
        if Self.divides.contains(name) { endBlock() }
        if name == "pre" || name == "textarea", preformattedDepth > 0 { preformattedDepth -= 1 }
    }

    private mutating func append(_ text: UnsafePointer<CChar>?, _ length: Int) {
        guard hiddenDepth == 0, let text, length > 0 else { return }
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

    /// The text as HTML of headings and paragraphs only.
    var html: String {
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
