// SPDX-License-Identifier: Apache-2.0

/// Writes a sanitised page from the tokens of another page.
struct HTMLPageWriter {
    private let bytes: [UInt8]
    private let highlighter: Highlighter?
    private let limit: Int
    private var attributes: HTMLAttributeWriter

    private var body: [UInt8] = []
    private var rootAttributes: [UInt8]?
    private var bodyAttributes: [UInt8]?
    private var title: [UInt8]?
    private var colourScheme: [UInt8]?

    /// The open elements in the output.
    private var open: [HTMLElement] = []
    /// The number of open elements that were omitted because they are nested too deeply.
    private var tooDeep = 0
    /// The element that is being removed with its content, and its nesting depth.
    private var removing: (element: HTMLElement, depth: Int)?
    private var isFull = false

    private static let maximumTitleBytes = 1000
    /// The reserve for end tags, marks and the head, in bytes.
    private static let room = 4096
    private static let roomBeforeEncoding = 900

    init(_ bytes: [UInt8], _ pictures: PictureStore, _ highlighter: Highlighter?, limit: Int) {
        self.bytes = bytes
        self.highlighter = highlighter
        self.limit = limit
        attributes = HTMLAttributeWriter(pictures, limit: limit)
        body.reserveCapacity(min(limit, bytes.count + bytes.count / 8))
    }

    mutating func take(_ token: HTMLToken) {
        switch token {
        case .text(let range): if removing == nil { text(range) }
        case .raw(let element, let range): raw(element.name, range)
        case .start(let tag): start(tag)
        case .end(let element): end(element)
        }
    }

    mutating func finish() -> SanitizedPage {
        close(to: 0)
        for name in attributes.pictures.mistyped { attributes.tally.note(.mistypedAttachment, name: name) }
        var html = Array("<!DOCTYPE html>".utf8)
        html.reserveCapacity(body.count + Self.room)
        let rootAttributes = rootAttributes ?? []
        // Browsers search for the encoding in the first 1,024 bytes. A `meta` element before the
        // root element is recognised too.
        if rootAttributes.count > Self.roomBeforeEncoding { html += ContentPolicy.charset.utf8 }
        html += "<html".utf8
        html += rootAttributes
        html += Array("><head>".utf8) + Array(ContentPolicy.metaElement.utf8)
        if let colourScheme {
            html += Array("<meta name=\"color-scheme\" content=\"".utf8) + colourScheme + Array("\">".utf8)
        }
        if let title { html += Array("<title>".utf8) + title + Array("</title>".utf8) }
        html += Array("</head><body".utf8)
        html += bodyAttributes ?? []
        html.append(UInt8(ascii: ">"))
        html += body
        html += Array("</body></html>".utf8)
        return SanitizedPage(html: html, removals: attributes.tally.removals)
    }

    /// Returns `true` if a number of bytes still fits.
    private mutating func hasRoom(_ count: Int) -> Bool {
        // The open elements still need end tags.
        if !isFull, body.count + count + Self.room <= limit { return true }
        isFull = true
        attributes.tally.note(.overflow, example: [])
        return false
    }

    // MARK: Text

    private mutating func text(_ range: Range<Int>) {
        guard hasRoom(range.count) else { return }
        guard let highlighter else { return append(bytes[range]) }
        // Split at character references, so that none is truncated.
        var start = range.lowerBound
        while start < range.upperBound {
            let end = bytes[start..<range.upperBound].dropFirst().firstIndex(of: UInt8(ascii: "&")) ?? range.upperBound
            marked(start..<end, highlighter)
            start = end
        }
    }

    private mutating func marked(_ range: Range<Int>, _ highlighter: Highlighter) {
        var start = range.lowerBound
        if bytes[start] == UInt8(ascii: "&") {
            let name = bytes[range].dropFirst().prefix { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "#") }
            start = name.endIndex
            if start < range.upperBound, bytes[start] == UInt8(ascii: ";") { start += 1 }
            append(bytes[range.lowerBound..<start])
        }
        guard start < range.upperBound else { return }
        for found in highlighter.ranges(in: bytes[start..<range.upperBound]) {
            append(bytes[start..<found.lowerBound])
            body += Self.mark.opening
            body.append(UInt8(ascii: ">"))
            append(bytes[found])
            body += Self.mark.closing
            start = found.upperBound
        }
        append(bytes[start..<range.upperBound])
    }

    private static let mark = HTMLElement.named("mark")

    private mutating func append(_ text: ArraySlice<UInt8>) {
        let start = body.count
        HTMLText.append(text, to: &body)
        // Escaping has made the text too long.
        if !hasRoom(0) { body.removeLast(body.count - start) }
    }

    // MARK: Raw elements

    private mutating func raw(_ name: String, _ range: Range<Int>) {
        guard removing == nil else { return }
        switch name {
        case "style":
            let (style, omitted) = StyleFilter.sheet(bytes[range], media: attributes.styleMedia)
            if omitted.count > 0 { attributes.tally.note(.style, omitted.count, example: omitted.example) }
            guard !style.isEmpty, hasRoom(style.count + 16) else { return }
            body += Array("<style>".utf8) + style + Array("</style>".utf8)
        case "title":
            guard title == nil else { return }
            var written: [UInt8] = []
            if range.count <= Self.maximumTitleBytes { HTMLText.append(bytes[range], to: &written) }
            title = written.count <= Self.maximumTitleBytes && !written.isEmpty ? written : nil
        default:
            // Already counted at the start tag.
            break
        }
    }

    // MARK: Tags

    private mutating func start(_ tag: HTMLTag) {
        if let removing {
            let isDrawing = removing.element.name == "svg" || removing.element.name == "math"
            guard isDrawing, tag.element.endsDrawing else {
                if tag.name == removing.element.name, !(isDrawing && tag.isSelfClosing) { self.removing?.depth += 1 }
                if tag.name == "script" { attributes.tally.note(.script, name: "script in \(removing.element.name)") }
                return
            }
            self.removing = nil
        }
        switch tag.element.disposition {
        case .kept: keep(tag)
        case .unwrapped(let kind): unwrap(tag, kind)
        case .dropped(let kind): drop(tag, kind)
        case .removed(let kind): remove(tag, kind)
        }
    }

    private mutating func keep(_ tag: HTMLTag) {
        closeWhatEnds(before: tag.element)
        let isVoid = tag.element.isVoid
        guard isVoid || open.count < Self.maximumOpen else {
            tooDeep += 1
            return attributes.tally.note(.nesting, name: tag.name)
        }
        let start = body.count
        body += tag.element.opening
        attributes.write(tag, bytes, to: &body)
        body.append(UInt8(ascii: ">"))
        let length = body.count - start
        guard length + start + Self.room <= limit, !isFull else {
            body.removeLast(length)
            if !isVoid { tooDeep += 1 }
            isFull = true
            return attributes.tally.note(.overflow, name: tag.name)
        }
        if !isVoid { open.append(tag.element) }
    }

    private static var maximumOpen: Int { HTMLSanitizer.maximumDepth }

    private mutating func unwrap(_ tag: HTMLTag, _ kind: Removal.Kind?) {
        if let kind { attributes.tally.note(kind, name: tag.name) }
        attributes.noteHandlers(tag, bytes)
        switch tag.name {
        case "html" where rootAttributes == nil: rootAttributes = attributes.ofRoot(tag, bytes)
        case "body" where bodyAttributes == nil: bodyAttributes = attributes.ofRoot(tag, bytes)
        default: break
        }
    }

    private mutating func drop(_ tag: HTMLTag, _ kind: Removal.Kind?) {
        if let kind, !showCheckbox(tag) { attributes.tally.note(kind, example: attributes.mainValue(tag, bytes)) }
        attributes.noteHandlers(tag, bytes)
        guard tag.name == "meta" else { return }
        let values = Dictionary(
            uniqueKeysWithValues: tag.attributes.map { ($0.name, attributes.words(of: $0.value, bytes)) })
        if values["http-equiv"] == "refresh" { attributes.tally.note(.redirect, name: values["content"] ?? "") }
        if values["name"] == "color-scheme", colourScheme == nil, let scheme = values["content"],
            ["light", "dark", "light dark", "dark light"].contains(scheme)
        {
            colourScheme = Array(scheme.utf8)
        }
    }

    /// Writes a checkbox in a task list as a character. Returns `false` if the tag is not a visible
    /// checkbox.
    private mutating func showCheckbox(_ tag: HTMLTag) -> Bool {
        guard tag.name == "input" else { return false }
        let type = tag.attributes.first { $0.name == "type" }.map { attributes.words(of: $0.value, bytes) }
        guard type == "checkbox", !tag.attributes.contains(where: { $0.name == "hidden" }) else { return false }
        let isChecked = tag.attributes.contains { $0.name == "checked" }
        let sign = Array((isChecked ? "☑" : "☐").utf8)
        if hasRoom(sign.count) { body += sign }
        return true
    }

    private mutating func remove(_ tag: HTMLTag, _ kind: Removal.Kind) {
        switch tag.name {
        case "title": return
        case "style": return attributes.styleMedia = attributes.mediaValue(tag, bytes)
        default: break
        }
        attributes.tally.note(kind, example: attributes.mainValue(tag, bytes))
        attributes.noteHandlers(tag, bytes)
        // The tokenizer skips the content of raw elements.
        let isEmpty = tag.isSelfClosing && (tag.name == "svg" || tag.name == "math")
        if !tag.element.isRaw, !isEmpty { removing = (tag.element, 1) }
    }

    private mutating func end(_ element: HTMLElement) {
        if let removing {
            guard removing.element.name == element.name else { return }
            self.removing = removing.depth > 1 ? (element, removing.depth - 1) : nil
            return
        }
        guard case .kept = element.disposition, !element.isVoid else { return }
        if tooDeep > 0 {
            tooDeep -= 1
            return
        }
        let crossesCells = !element.groups.isDisjoint(with: .tableParts)
        let boundary: HTMLElement.Groups = crossesCells ? .table : .paragraphBoundary
        for index in open.indices.reversed() {
            if open[index] === element { return close(to: index) }
            if !open[index].groups.isDisjoint(with: boundary) { return }
        }
    }

    /// Closes the elements that a start tag closes implicitly.
    private mutating func closeWhatEnds(before element: HTMLElement) {
        if element.endsParagraph { closeNearest(.paragraph, .paragraphBoundary) }
        if let (groups, boundary) = element.closes { closeNearest(groups, boundary) }
    }

    private mutating func closeNearest(_ groups: HTMLElement.Groups, _ boundary: HTMLElement.Groups) {
        for index in open.indices.reversed() {
            if !open[index].groups.isDisjoint(with: groups) { return close(to: index) }
            if !open[index].groups.isDisjoint(with: boundary) { return }
        }
    }

    private mutating func close(to count: Int) {
        while open.count > count { body += open.removeLast().closing }
    }
}
