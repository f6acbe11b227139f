// SPDX-License-Identifier: Apache-2.0

/// The appearance of elements in plain text.
enum PageTextElements {
    static let styles: [String: TextPiece.Style] = [
        "mark": .found, "code": .code, "kbd": .code, "samp": .code, "tt": .code, "b": .strong, "strong": .strong,
        "h1": .strong, "h2": .strong, "h3": .strong, "h4": .strong, "h5": .strong, "h6": .strong, "th": .strong,
        "dt": .strong, "summary": .strong, "caption": .strong, "em": .emphasis, "i": .emphasis, "cite": .emphasis,
        "dfn": .emphasis, "var": .emphasis,
    ]

    /// Blocks with blank lines around them.
    static let separated: Set<String> = ["p", "figure", "dl", "pre", "blockquote", "table"]
    /// Blocks that start on a new line.
    static let blocks: Set<String> = [
        "address", "article", "aside", "caption", "center", "details", "div", "dt", "figcaption", "footer", "header",
        "hgroup", "main", "nav", "section", "summary",
    ]

    /// Returns the level of a heading; `nil` for other elements.
    static func level(_ name: String) -> Int? {
        guard name.count == 2, name.first == "h", let level = name.last?.wholeNumberValue, (1...6).contains(level)
        else { return nil }
        return level
    }
}

extension PageTextWriter {
    private static let codeIndent = "    "

    /// Handles the start of an element.
    ///
    /// - Returns: `true` if it opened a container in the lines.
    mutating func begin(_ tag: HTMLTag) -> Bool {
        if PageTextElements.separated.contains(tag.name) {
            endBlock(blankLine: true)
        } else if PageTextElements.blocks.contains(tag.name) {
            endBlock()
        } else if let level = PageTextElements.level(tag.name) {
            endBlock(blankLine: true)
            hasHeading = hasHeading || cell == nil
            if level > 2 { write(String(repeating: "#", count: level) + " ") }
        }
        switch tag.name {
        case "ul", "ol":
            endBlock(blankLine: lists.isEmpty)
            lists.append(tag.name == "ol" ? value("start", of: tag).flatMap { Int($0.prefix(9)) } ?? 1 : nil)
        case "li": return beginItem(tag)
        case "dd":
            endBlock()
            return openMark(Self.codeIndent)
        case "blockquote": return openMark("│ ", rest: "│ ")
        case "pre": (isPreformatted, isCode) = (true, false)
        case "code" where isPreformatted: isCode = true
        case "q": text("“")
        case "del", "s", "strike": write("~~")
        case "a": link = value("href", of: tag).map { ($0, "") }
        case "table" where table == nil && cell == nil: table = TextTable()
        case "tr" where cell == nil: table?.beginRow()
        case "td", "th":
            guard cell == nil, table != nil else { return false }
            // Content between cells is placed before the table, as in browsers.
            endBlock()
            cell = tag
            return true
        default: break
        }
        return false
    }

    /// Handles the end of an element.
    mutating func finish(_ name: String, hasMark: Bool) {
        switch name {
        case "a": finishLink()
        case "q": text("”")
        case "del", "s", "strike": write("~~")
        case "td", "th": if hasMark { finishCell() }
        case "table": finishTable()
        case "pre": finishPreformatted()
        case "ul", "ol":
            lists.removeLast()
            endBlock(blankLine: lists.isEmpty)
        case "li", "dd":
            endBlock()
            if hasMark { lines.close() }
        case "blockquote":
            endBlock()
            if hasMark { lines.close() }
            endBlock(blankLine: true)
        default:
            if let level = PageTextElements.level(name), cell == nil {
                finishHeading(level)
            } else if PageTextElements.separated.contains(name) || PageTextElements.level(name) != nil {
                endBlock(blankLine: true)
            } else if PageTextElements.blocks.contains(name) {
                endBlock()
            }
        }
    }

    private mutating func openMark(_ mark: String, rest: String? = nil) -> Bool {
        guard cell == nil else { return false }
        lines.open(mark, rest: rest)
        return true
    }

    private mutating func beginItem(_ tag: HTMLTag) -> Bool {
        endBlock()
        var mark = "• "
        if let last = lists.last, let next = last {
            let number = value("value", of: tag).flatMap { Int($0.prefix(9)) } ?? next
            mark = "\(number). "
            lists[lists.count - 1] = number + 1
        }
        if cell != nil { write(mark) }
        return openMark(mark)
    }

    private mutating func finishHeading(_ level: Int) {
        let text = inline.take()
        guard !text.isEmpty else { return }
        let wrapped = TextLines.lines(of: TextWrapping.wrapped(text, width: lines.available))
        wrapped.forEach { lines.add($0) }
        if level <= 2 {
            let widest = wrapped.map { TextWidth.of($0.map(\.text).joined()) }.max() ?? 0
            let rule = String(repeating: level == 1 ? "═" : "─", count: min(72, max(1, widest)))
            lines.add([TextPiece(rule, .faint)])
        }
        lines.separate()
    }

    private mutating func finishPreformatted() {
        isPreformatted = false
        guard cell == nil else { return inline.endLine() }
        if isCode { lines.open(Self.codeIndent) }
        endBlock()
        if isCode { lines.close() }
        lines.separate()
    }

    /// Writes the target of a link, unless the text is the target.
    private mutating func finishLink() {
        guard let (address, text) = link else { return }
        link = nil
        guard !address.isEmpty, !address.hasPrefix("#") else { return }
        let said = DisplayText.line(text)
        let short = address.replacing(/^(https?:\/\/|mailto:)/.ignoresCase(), with: "")
        guard ![address, short].contains(where: { $0 == said || $0 == said + "/" }) else { return }
        write(said.isEmpty ? address : " (\(address))", .faint)
    }

    // MARK: Tables

    private mutating func finishCell() {
        guard let tag = cell else { return }
        cell = nil
        let alignment: TextTable.Alignment =
            switch value("align", of: tag)?.lowercased() {
            case "right": .right
            case "center": .centre
            default: .left
            }
        let span = value("colspan", of: tag).flatMap { Int($0.prefix(4)) } ?? 1
        table?.add(inline.take(), isHeader: tag.name == "th", alignment: alignment, span: span)
    }

    private mutating func finishTable() {
        guard cell == nil else { return inline.endLine() }
        endBlock()
        guard let table else { return }
        self.table = nil
        table.write(to: &lines)
        lines.separate()
    }
}
