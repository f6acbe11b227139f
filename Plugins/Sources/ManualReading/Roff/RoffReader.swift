// SPDX-License-Identifier: Apache-2.0

/// Reads a manual page: the macros of man(7) and mdoc(7), and the parts of roff(7) that pages use.
///
/// Roff is a programming language, and this reader does not interpret it fully. It supports string
/// definitions, but no macro definitions and no registers. The arguments of a page's own macro are
/// text if its definition prints arguments.
/// Loops are left out, so the time is linear in the input and in the expanded strings, whose size
/// is limited.
final class RoffReader {
    /// Another page that `.so` names.
    typealias Include = (_ name: String) -> [UInt8]?

    static let maximumIncludes = 32
    static let maximumDepth = 4
    private static let maximumStrings = 2_000
    private static let maximumString = 4_096
    private static let maximumMacros = 2_000
    private static let maximumConditions = 200
    /// The maximum total size of the strings that one page expands, in bytes.
    static let maximumExpansion = 4 << 20

    var output: ManualText
    private(set) var title: String?
    private(set) var volume: String?
    /// `true` if the page contains man or mdoc macros.
    private(set) var isPage = false
    /// The first page that `.so` named before any text.
    private(set) var alias: String?
    private(set) var missingInclude = false
    private(set) var hasExpandedTooMuch = false

    var font = ManualText.Font.roman
    private var previousFont = ManualText.Font.roman
    var strings: [String: [UInt8]] = [:]
    private var expanded = 0
    /// The page's own macros that print their arguments.
    private var macros: Set<String> = []
    /// The results of conditions whose `.el` may follow, innermost last.
    private var conditions: [Bool] = []
    private var sources: [(bytes: [UInt8], position: Int)] = []
    private var includes = 0
    private let include: Include

    // The state of man(7).
    private var nextLineFont: ManualText.Font?
    private var nextLineIsHeading: ManualBlock.Kind?
    private var nextLineIsTerm = false
    private var table: RoffTable?
    /// The URL in `.UR`, which follows the text.
    private var address: [UInt8]?
    // The state of mdoc(7).
    var mdoc = MdocState()

    init(wantsHTML: Bool, limit: Int = ManualContent.maximumText, include: @escaping Include = { _ in nil }) {
        output = ManualText(wantsHTML: wantsHTML, limit: limit)
        self.include = include
    }

    func read(_ bytes: [UInt8]) {
        sources = [(bytes, 0)]
        while let line = nextLine(), !output.isFull { process(line) }
        output.end()
    }

    private func nextLine() -> ArraySlice<UInt8>? {
        while let source = sources.last {
            guard source.position < source.bytes.count else {
                sources.removeLast()
                continue
            }
            let rest = source.bytes[source.position...]
            let end = rest.firstIndex(of: 0x0A) ?? source.bytes.count
            sources[sources.count - 1].position = end + 1
            let line = source.bytes[source.position..<end]
            return line.last == 0x0D ? line.dropLast() : line
        }
        return nil
    }

    private func process(_ line: ArraySlice<UInt8>) {
        if line.starts(with: [UInt8(ascii: "."), UInt8(ascii: "\\"), UInt8(ascii: "\"")]) { return }
        guard let first = line.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "'") else {
            return textLine(line)
        }
        let rest = line.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }
        let end = rest.firstIndex { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: "\\") } ?? rest.endIndex
        let name = String(decoding: rest[..<end], as: UTF8.self)
        if name.isEmpty || name.utf8.count > 32 { return }
        request(name, rest[end...].drop { $0 == 0x20 || $0 == 0x09 })
    }

    private func textLine(_ line: ArraySlice<UInt8>) {
        if table != nil { return tableLine(line) }
        if line.isEmpty {
            if output.isPreformatted { output.sourceLineEnd() } else { output.begin(.paragraph) }
            return
        }
        // A source line that begins with a blank starts a new line of text.
        if line.first == 0x20, !output.isPreformatted { output.lineBreak() }
        finishLine { emit(line) }
    }

    /// Writes the text of a line, and then applies what the last macro requested.
    func finishLine(_ write: () -> Void) {
        if let kind = nextLineIsHeading {
            nextLineIsHeading = nil
            output.begin(kind)
            write()
            return output.begin(.paragraph)
        }
        let kept = font
        if let next = nextLineFont {
            font = next
            nextLineFont = nil
        }
        write()
        font = kept
        if nextLineIsTerm {
            nextLineIsTerm = false
            output.lineBreak()
        } else if !continues {
            output.sourceLineEnd()
        }
        continues = false
    }

    /// `true` after `\c`: the next line continues the word.
    var continues = false

    func setFont(_ font: ManualText.Font?) {
        let new = font ?? previousFont
        previousFont = self.font
        self.font = new
    }

    // MARK: Requests

    private func request(_ name: String, _ rest: ArraySlice<UInt8>) {
        if mdoc.isPage, mdocRequest(name, rest) {
            isPage = true
            return
        }
        switch name {
        case "Dd", "Dt", "Sh":
            mdoc.isPage = true
            _ = mdocRequest(name, rest)
            isPage = true
        case "if": conditional(rest, isElse: false, keeps: false)
        case "ie": conditional(rest, isElse: false, keeps: true)
        case "el": conditional(rest, isElse: true, keeps: false)
        case "while": skipBlock(rest)
        case "so": includePage(rest)
        case "ds", "ds1": defineString(rest)
        case "de", "de1", "am", "ig", "dei", "ami": skipDefinition(name, rest)
        case "EQ": skip(until: "EN")
        case "PS": skip(until: "PE")
        case "TS":
            output.begin(.preformatted)
            table = RoffTable()
        case "TE":
            table = nil
            output.begin(.paragraph)
        case "nf", "EX", "Vb":
            output.begin(.paragraph)
            output.isPreformatted = true
        case "fi", "EE", "Ve":
            output.end()
            output.isPreformatted = false
        case "br", "sp", "Sp", "ti", "in": name == "sp" || name == "Sp" ? paragraphBreak() : output.lineBreak()
        case "ft": setFont(Self.font(named: rest))
        case "tr", "hy", "nh", "ad", "na", "ll", "pl", "ne", "ta", "nr", "rr", "rm", "als", "cc", "c2", "lf", "hw",
            "ps", "vs",
            "ce", "fp", "ev", "wh", "ch", "di", "da", "bp", "tm", "mso", "RS", "RE", "PD", "DT", "UC", "AT", "pc", "ss",
            "it":
            break
        default: manMacro(name, rest)
        }
    }

    func setTitle(_ title: String?, _ volume: String?) { (self.title, self.volume) = (title, volume) }

    private func paragraphBreak() {
        if output.isPreformatted { output.sourceLineEnd() } else { output.begin(.paragraph) }
    }

    private func manMacro(_ name: String, _ rest: ArraySlice<UInt8>) {
        switch name {
        case "TH":
            isPage = true
            let arguments = arguments(rest)
            title = arguments.first.map(plain)
            volume = arguments.count > 4 ? plain(arguments[4]) : nil
        case "SH", "SS":
            isPage = true
            output.isPreformatted = false
            font = .roman
            (nextLineIsTerm, nextLineFont) = (false, nil)
            let kind = name == "SH" ? ManualBlock.Kind.heading : .subheading
            output.end()
            nextLineIsHeading = kind
            if !rest.isEmpty { finishLine { join(arguments(rest)) } }
        case "PP", "P", "LP", "HP":
            font = .roman
            output.begin(.paragraph)
        case "TP":
            font = .roman
            output.begin(.item)
            nextLineIsTerm = true
        case "TQ":
            output.lineBreak()
            nextLineIsTerm = true
        case "IP":
            font = .roman
            let arguments = arguments(rest)
            output.begin(arguments.isEmpty ? .paragraph : .item)
            if let term = arguments.first {
                emit(term)
                output.lineBreak()
            }
        case "B", "SB": fontMacro(.bold, rest)
        case "I": fontMacro(.italic, rest)
        case "SM", "R": fontMacro(.roman, rest)
        case "BR": alternate(.bold, .roman, rest)
        case "RB": alternate(.roman, .bold, rest)
        case "BI": alternate(.bold, .italic, rest)
        case "IB": alternate(.italic, .bold, rest)
        case "IR": alternate(.italic, .roman, rest)
        case "RI": alternate(.roman, .italic, rest)
        case "UR", "MT": address = arguments(rest).first.map { Array($0) }
        case "UE", "ME":
            if let address {
                finishLine {
                    output.append("<".utf8, .roman)
                    emit(address[...])
                    output.append(">".utf8, .roman)
                    for argument in arguments(rest) { emit(argument) }
                }
            }
            address = nil
        case "MR":
            let arguments = arguments(rest)
            finishLine {
                for (index, argument) in arguments.prefix(3).enumerated() {
                    if index == 1 { output.append("(".utf8, .roman) }
                    emit(argument)
                    if index == 1 { output.append(")".utf8, .roman) }
                }
            }
        case "SY":
            output.lineBreak()
            fontMacro(.bold, rest)
        case "YS": output.lineBreak()
        case "OP":
            finishLine {
                output.append("[".utf8, .roman)
                join(arguments(rest))
                output.append("]".utf8, .roman)
            }
        default:
            // Other names are unknown requests, or macros such as “IX”, which prints nothing.
            if macros.contains(name), !rest.isEmpty { finishLine { join(arguments(rest)) } }
        }
    }

    private func fontMacro(_ font: ManualText.Font, _ rest: ArraySlice<UInt8>) {
        if rest.isEmpty {
            nextLineFont = font
            return
        }
        finishLine {
            let kept = self.font
            self.font = font
            join(arguments(rest))
            self.font = kept
        }
    }

    private func alternate(_ first: ManualText.Font, _ second: ManualText.Font, _ rest: ArraySlice<UInt8>) {
        finishLine {
            for (index, argument) in arguments(rest).enumerated() {
                font = index % 2 == 0 ? first : second
                emit(argument)
            }
            font = .roman
        }
    }

    private func join(_ arguments: [ArraySlice<UInt8>]) {
        for (index, argument) in arguments.enumerated() {
            if index > 0 { output.append(" ".utf8, .roman) }
            emit(argument)
        }
    }

    static func font(named name: some Collection<UInt8>) -> ManualText.Font? {
        switch String(decoding: name.prefix(4), as: UTF8.self).trimmingSuffix {
        case "B", "3", "4", "BI", "CB", "CBI": .bold
        case "I", "2", "CI": .italic
        case "P", "": nil
        default: .roman
        }
    }

    // MARK: Definitions, conditions and includes

    private func defineString(_ rest: ArraySlice<UInt8>) {
        let end = rest.firstIndex(of: 0x20) ?? rest.endIndex
        let name = String(decoding: rest[..<end], as: UTF8.self)
        var value = rest[end...].drop { $0 == 0x20 }
        if value.first == UInt8(ascii: "\"") { value = value.dropFirst() }
        guard name.utf8.count <= 32, strings.count < Self.maximumStrings || strings[name] != nil else { return }
        strings[name] = Array(value.prefix(Self.maximumString))
    }

    /// Returns the bytes of a string, and counts them towards the limit.
    func string(_ name: String) -> [UInt8]? {
        guard let value = strings[name] else { return nil }
        expanded += value.count + 1
        if expanded > Self.maximumExpansion {
            hasExpandedTooMuch = true
            return nil
        }
        return value
    }

    private func skipDefinition(_ name: String, _ rest: ArraySlice<UInt8>) {
        let words = arguments(rest).prefix(2).map { String(decoding: $0, as: UTF8.self) }
        if name == "ig" { return skip(until: words.first ?? ".") }
        var printsArguments = false
        skip(until: words.dropFirst().first ?? ".") { line in
            printsArguments = printsArguments || self.printsArguments(line)
        }
        guard let macro = words.first, macro.utf8.count <= 32 else { return }
        if printsArguments, macros.count < Self.maximumMacros {
            macros.insert(macro)
        } else if !printsArguments, !name.hasPrefix("am") {
            macros.remove(macro)
        }
    }

    /// The macros and requests that print their arguments.
    private static let printing: Set<String> = [
        "B", "I", "R", "SB", "SM", "BR", "RB", "BI", "IB", "IR", "RI", "SH", "SS", "IP", "OP", "SY", "MR", "nop",
    ]

    /// Returns `true` if a line of a macro's definition prints an argument of the macro. A line
    /// such as `.RS \\$1` or `.tm \\$1` does not.
    private func printsArguments(_ line: ArraySlice<UInt8>) -> Bool {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        func hasArgument(_ text: ArraySlice<UInt8>) -> Bool {
            zip(text, text.dropFirst()).contains { $0 == (0x5C, 0x24) }
        }
        var rest = line
        while rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: "'") {
            rest = rest.dropFirst().drop(while: isBlank)
            let end = rest.firstIndex { isBlank($0) || $0 == UInt8(ascii: "\\") } ?? rest.endIndex
            let name = String(decoding: rest[..<end].prefix(32), as: UTF8.self)
            rest = rest[end...].drop(while: isBlank)
            switch name {
            case "if", "ie": rest = RoffCondition.evaluate(rest).1
            case "el": break
            default: return (Self.printing.contains(name) || macros.contains(name)) && hasArgument(rest)
            }
            rest = rest.drop(while: isBlank)
            if rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "{")]) {
                rest = rest.dropFirst(2).drop(while: isBlank)
            }
        }
        return hasArgument(rest)
    }

    private func skip(until end: String, _ visit: (ArraySlice<UInt8>) -> Void = { _ in }) {
        let end = Array(end.utf8)
        while let line = nextLine() {
            if let first = line.first, first == UInt8(ascii: ".") || first == UInt8(ascii: "'") {
                let name = line.dropFirst().drop { $0 == 0x20 || $0 == 0x09 }.prefix { $0 != 0x20 && $0 != 0x09 }
                if name.elementsEqual(end) { return }
            }
            visit(line)
        }
    }

    private func conditional(_ rest: ArraySlice<UInt8>, isElse: Bool, keeps: Bool) {
        var rest = rest
        var isTrue = false
        if isElse {
            isTrue = !(conditions.popLast() ?? true)
        } else {
            (isTrue, rest) = RoffCondition.evaluate(rest)
        }
        if keeps, conditions.count < Self.maximumConditions { conditions.append(isTrue) }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        guard isTrue else { return skipBlock(rest) }
        if rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "{")]) { rest = rest.dropFirst(2) }
        if rest.first == UInt8(ascii: "\\"), rest.count == 1 { return }
        rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
        // A line with many conditions would nest the calls too deeply.
        guard !rest.isEmpty, nesting < 20 else { return }
        nesting += 1
        process(rest)
        nesting -= 1
    }

    private var nesting = 0

    /// Skips the rest of a line, and the lines up to the end of a block that begins in it.
    private func skipBlock(_ rest: ArraySlice<UInt8>) {
        var depth = RoffCondition.balance(rest)
        while depth > 0, let line = nextLine() { depth += RoffCondition.balance(line) }
    }

    private func includePage(_ rest: ArraySlice<UInt8>) {
        let name = arguments(rest).first.map(plain) ?? ""
        guard !name.isEmpty, includes < Self.maximumIncludes, sources.count <= Self.maximumDepth else { return }
        includes += 1
        let isFirst = output.blocks.isEmpty && !output.hasText && !isPage
        guard let bytes = include(name) else {
            if isFirst { missingInclude = true }
            return
        }
        if isFirst, alias == nil { alias = name }
        sources.append((bytes, 0))
    }

    // MARK: Tables

    private func tableLine(_ line: ArraySlice<UInt8>) {
        guard let cells = table?.cells(of: line) else { return }
        for (index, cell) in cells.enumerated() {
            if index > 0 { output.append("\t".utf8, .roman) }
            emit(cell)
        }
        if table?.isInText == true { output.append(" ".utf8, .roman) } else { output.lineBreak() }
    }
}

extension String {
    fileprivate var trimmingSuffix: String { String(prefix { $0 != " " && $0 != "]" }) }
}
