// SPDX-License-Identifier: Apache-2.0
import Previews

/// Checks a page without knowledge of its writer. The scanner is strict where browsers are
/// tolerant, so that an accepted page has only one interpretation.
struct PageScanner {
    /// The faults of the page.
    private(set) var problems: [String] = []
    private var rest: Substring.UTF8View
    private var open: [String] = []

    private static let elements = Set(
        """
        a abbr acronym address article aside b bdi bdo big blockquote br caption center cite code col colgroup data dd del \
        details dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hgroup hr i img ins kbd li main mark \
        nav ol p pre q rp rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time \
        tr tt u ul var wbr style html head body title meta
        """.split(separator: " ").map(String.init))
    private static let void: Set<String> = ["br", "col", "hr", "img", "wbr", "meta"]
    private static let attributes = Set(
        """
        class id title lang dir hidden align valign style href rel src alt width height colspan rowspan span scope headers \
        start type reversed value datetime open border cellpadding cellspacing summary size color face bgcolor abbr
        """.split(separator: " ").map(String.init))

    static func problems(of page: [UInt8]) -> [String] {
        guard let text = String(validating: page, as: UTF8.self) else { return ["not UTF-8"] }
        guard text.components(ContentPolicy.metaElement) == 2 else { return ["not one policy"] }
        guard let start = text.prefixMatch(of: /<!DOCTYPE html>(<meta charset="utf-8">)?(?=<html)/) else {
            return ["no doctype"]
        }
        // The position where browsers look for the declaration.
        guard
            text.utf8.prefix(1024).count < 1024
                || String(decoding: text.utf8.prefix(1024), as: UTF8.self).contains("<meta charset=\"utf-8\">")
        else {
            return ["no encoding at the beginning"]
        }
        let body = text[start.range.upperBound...].replacing(
            ContentPolicy.metaElement, with: "", maxReplacements: 1)
        var scanner = PageScanner(rest: body[...].utf8)
        scanner.scan()
        return scanner.problems
    }

    private init(rest: Substring.UTF8View) { self.rest = rest }

    private mutating func scan() {
        while let byte = rest.first, problems.count < 5 {
            if byte < 0x20, byte != 0x09, byte != 0x0A { problems.append("control character \(byte)") }
            switch byte {
            case UInt8(ascii: "<"): tag()
            case UInt8(ascii: ">"):
                problems.append("a bare >")
                rest.removeFirst()
            case UInt8(ascii: "&"):
                if !reference(rest) { problems.append("a bare & before \(start)") }
                rest.removeFirst()
            default: rest.removeFirst()
            }
        }
        if !open.isEmpty { problems.append("open at the end: \(open)") }
    }

    private var start: String { String(decoding: rest.prefix(40), as: UTF8.self) }

    private func reference(_ text: Substring.UTF8View) -> Bool {
        let name = text.dropFirst().prefix { $0 != UInt8(ascii: ";") && $0 > 0x20 && $0 < 0x7F }
        return (1...31).contains(name.count) && text.dropFirst(name.count + 1).first == UInt8(ascii: ";")
            && Substring(name).allSatisfy { $0.isLetter || $0.isNumber }
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    private mutating func name() -> String {
        let name = rest.prefix { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
        rest = rest.dropFirst(name.count)
        return String(Substring(name))
    }

    private mutating func tag() {
        rest.removeFirst()
        if take("/") {
            let name = name()
            if open.popLast() != name { problems.append("</\(name)> closes nothing") }
            if !take(">") { problems.append("an end tag with more: \(start)") }
            return
        }
        let element = name()
        if !Self.elements.contains(element) { problems.append("<\(element)> before \(start)") }
        if element == "meta" {
            if !take(" name=\"color-scheme\" content=\"light dark\">") { problems.append("a meta: \(start)") }
            return
        }
        while take(" ") { attribute(of: element) }
        if !take(">") {
            problems.append("<\(element) continues with \(start)")
            return
        }
        if element == "style" { return style() }
        if !Self.void.contains(element) { open.append(element) }
    }

    private mutating func attribute(of element: String) {
        let attribute = name()
        guard Self.attributes.contains(attribute), take("=\""), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else {
            problems.append("attribute \(attribute) of \(element): \(start)")
            rest = rest.dropFirst()
            return
        }
        let value = String(rest[..<end]) ?? ""
        rest = rest[rest.index(after: end)...]
        if value.utf8.contains(where: { $0 == 0x3C || $0 == 0x3E }) { problems.append("< or > in \(value.prefix(60))") }
        let isAllowed =
            switch attribute {
            case "href":
                ["http://", "https://", "mailto:", "#"].contains { value.lowercased().hasPrefix($0) }
            case "src":
                value.wholeMatch(of: /data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+\/]+=*/) != nil
            case "rel": value == "noopener noreferrer"
            case "style": Self.isHarmless(value)
            default: true
            }
        if !isAllowed { problems.append("\(attribute)=\(value.prefix(80))") }
    }

    private mutating func style() {
        let css = rest.prefix { $0 != UInt8(ascii: "<") }
        rest = rest.dropFirst(css.count)
        let text = String(Substring(css))
        if !Self.isHarmless(text.replacing("@media ", with: "")) { problems.append("style \(text.prefix(80))") }
        if !take("</style>") { problems.append("a style without an end: \(start)") }
    }

    private static func isHarmless(_ css: String) -> Bool {
        let css = css.lowercased().replacing("!important", with: "")
        return ![
            "url", "\\", "@", "expression", "import", "javascript", "behavior", "binding", "image-set", "/*", "&", "<",
        ]
        .contains { css.contains($0) }
    }
}

extension String {
    fileprivate func components(_ separator: String) -> Int { ranges(of: separator).count + 1 }
}
