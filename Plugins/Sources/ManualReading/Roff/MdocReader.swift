// SPDX-License-Identifier: Apache-2.0

/// The state of an mdoc(7) page.
struct MdocState {
    /// `true` after a macro that exists only in mdoc.
    var isPage = false
    /// The name of the page, for `.Nm` without arguments.
    var name: [UInt8] = []
    /// The types of the currently open lists.
    var lists: [String] = []
    /// `true` for each open display that is preformatted.
    var displays: [Bool] = []
    /// The number of arguments of `.Fo`, up to `.Fc`.
    var functionArguments = 0
    var isInFunction = false
    var isInSynopsis = false
    /// The texts that close what the line has opened.
    var closers: [String] = []
    /// `true` if no space precedes the next word.
    var joins = false
    /// `true` if the spaces between words are off (`.Sm off`).
    var isTight = false
}

extension RoffReader {
    private typealias Word = ArraySlice<UInt8>
    private static let maximumNesting = 100

    /// Handles an mdoc macro. Returns `false` if the name is not one.
    func mdocRequest(_ name: String, _ rest: ArraySlice<UInt8>) -> Bool {
        switch name {
        case "Dd", "Os", "Rs", "Re", "Bk", "Ek", "Bf", "Ef", "Db", "Tg": break
        case "Dt":
            let parts = arguments(rest)
            setTitle(parts.first.map(plain), parts.dropFirst(2).first.map(plain))
        case "Sh", "Ss":
            output.isPreformatted = false
            (mdoc.lists, mdoc.displays) = ([], [])
            output.begin(name == "Sh" ? .heading : .subheading)
            inline(arguments(rest))
            mdoc.isInSynopsis = rest.starts(with: "SYNOPSIS".utf8)
            output.begin(.paragraph)
        case "Pp", "Lp": output.isPreformatted ? output.sourceLineEnd() : output.begin(.paragraph)
        case "Bd":
            let words = arguments(rest).map { String(decoding: $0, as: UTF8.self) }
            output.end()
            if mdoc.displays.count < Self.maximumNesting { mdoc.displays.append(output.isPreformatted) }
            output.isPreformatted = words.contains { ["-literal", "-unfilled"].contains($0) }
        case "Ed":
            output.end()
            output.isPreformatted = mdoc.displays.popLast() ?? false
        case "Bl":
            let words = arguments(rest).map { String(decoding: $0, as: UTF8.self) }
            output.end()
            if mdoc.lists.count < Self.maximumNesting { mdoc.lists.append(words.first { $0.hasPrefix("-") } ?? "") }
        case "El":
            output.begin(.paragraph)
            _ = mdoc.lists.popLast()
        case "It": listItem(arguments(rest))
        case "D1", "Dl":
            output.begin(.paragraph)
            inline(arguments(rest))
            output.begin(.paragraph)
        default:
            guard MdocMacros.isKnown(name) else { return false }
            inline([Array(name.utf8)[...]] + arguments(rest))
            if !output.isPreformatted || !continues { output.sourceLineEnd() }
            continues = false
            if mdoc.isInSynopsis, MdocMacros.endsLine.contains(name) { output.lineBreak() }
        }
        return true
    }

    private func listItem(_ words: [Word]) {
        let list = mdoc.lists.last ?? ""
        output.begin(.item)
        switch list {
        case "-bullet", "-dash", "-hyphen": output.append("• ".utf8, .roman)
        case "-enum", "-item": break
        default:
            inline(words)
            if list == "-column" { output.append("\t".utf8, .roman) } else { output.lineBreak() }
        }
    }

    /// Writes words, which may contain macro calls.
    private func inline(_ line: [Word]) {
        mdoc.closers = []
        mdoc.joins = false
        // An enclosure ends before the punctuation at the end of the line.
        let (words, after) = MdocMacros.splitPunctuation(line[...])
        var index = words.startIndex
        while index < words.endIndex {
            let name = String(decoding: words[index], as: UTF8.self)
            index += 1
            guard name.utf8.count <= 3, MdocMacros.isKnown(name) else {
                word(words[index - 1], font)
                continue
            }
            // The words up to the next macro are its arguments.
            var end = index
            while end < words.endIndex, !MdocMacros.isCalled(words[end]) { end += 1 }
            call(name, words[index..<end])
            index = end
        }
        while let closer = mdoc.closers.popLast() { close(closer) }
        for each in after { word(each, font) }
    }

    private func close(_ text: String) {
        mdoc.joins = false
        output.needsSpace = false
        output.append(text.utf8, .roman)
        output.needsSpace = !mdoc.isTight
    }

    /// Writes a word, with a space before it unless it is punctuation.
    private func word(_ text: Word, _ font: ManualText.Font, prefix: String = "") {
        let isPunctuation = prefix.isEmpty && MdocMacros.closes(text)
        output.needsSpace = !isPunctuation && !mdoc.joins && !mdoc.isTight && output.hasText
        mdoc.joins = prefix.isEmpty && MdocMacros.opens(text)
        let kept = self.font
        self.font = isPunctuation || mdoc.joins ? .roman : font
        if !prefix.isEmpty { output.append(prefix.utf8, font) }
        emit(text)
        self.font = kept
    }

    private func open(_ text: String) {
        if text.isEmpty { return }
        output.needsSpace = !mdoc.joins && !mdoc.isTight && output.hasText
        output.append(text.utf8, .roman)
        mdoc.joins = true
    }

    private func call(_ name: String, _ words: ArraySlice<Word>) {
        if let (begin, end) = MdocMacros.enclosures[name] {
            open(begin)
            // The enclosure ends at the end of the line, before its last punctuation.
            let (inner, after) = MdocMacros.splitPunctuation(words)
            for each in inner { word(each, font) }
            if after.isEmpty {
                if mdoc.closers.count < Self.maximumNesting { mdoc.closers.append(end) }
            } else {
                close(end)
                for each in after { word(each, font) }
            }
            return
        }
        if let text = MdocMacros.openers[name] { return openBlock(text, words) }
        if let text = MdocMacros.closers[name] {
            close(text)
            for each in words { word(each, font) }
            return
        }
        if let text = MdocMacros.texts[name] {
            word(Array(text.utf8)[...], font)
            for each in words { word(each, font) }
            return
        }
        switch name {
        case "Ns", "Ap", "Pf":
            mdoc.joins = name != "Ap"
            if name == "Ap" {
                mdoc.joins = true
                word([UInt8(ascii: "'")], font)
                mdoc.joins = true
            }
            for (index, each) in words.enumerated() {
                word(each, font)
                if name == "Pf", index == 0 { mdoc.joins = true }
            }
        case "Sm": mdoc.isTight = words.first.map { String(decoding: $0, as: UTF8.self) == "off" } ?? !mdoc.isTight
        case "Ta": output.append("\t".utf8, .roman)
        case "Nm": programName(words)
        case "Nd":
            word(Array("–".utf8)[...], .roman)
            for each in words { word(each, font) }
        case "Fl":
            if words.isEmpty || MdocMacros.closes(words[words.startIndex]) {
                word([], .bold, prefix: "-")
                // "Fl Fl all" is "--all".
                mdoc.joins = words.isEmpty
            }
            for each in words {
                word(each, .bold, prefix: MdocMacros.closes(each) || each == [UInt8(ascii: "|")] ? "" : "-")
            }
        case "Ar":
            if words.isEmpty || MdocMacros.closes(words[words.startIndex]) {
                word(Array("file ...".utf8)[...], .italic)
            }
            for each in words { word(each, .italic) }
        case "Xr":
            for (index, each) in words.enumerated() {
                if index == 1 {
                    output.append("(".utf8, .roman)
                    mdoc.joins = true
                    word(each, .roman)
                    output.append(")".utf8, .roman)
                } else {
                    word(each, .roman)
                }
            }
        case "Fn", "Fo": function(words, isBlock: name == "Fo")
        case "Fc":
            close(")")
            mdoc.isInFunction = false
            for each in words { word(each, font) }
        case "Fa" where mdoc.isInFunction:
            for each in words {
                if mdoc.functionArguments > 0 { close(",") }
                mdoc.joins = mdoc.functionArguments == 0
                mdoc.functionArguments += 1
                word(each, .italic)
            }
        case "In":
            for each in words {
                MdocMacros.closes(each)
                    ? word(each, .roman) : word(each + [UInt8(ascii: ">")], .bold, prefix: "#include <")
            }
        case "Lk", "Mt": for each in words.reversed() { word(each, .italic) }
        case "Ex":
            let name =
                words.dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
                ?? String(decoding: mdoc.name, as: UTF8.self)
            word(Array("The \(name) utility exits 0 on success, and >0 if an error occurs.".utf8)[...], .roman)
        case "Rv":
            word(
                Array(
                    "Upon successful completion, the value 0 is returned; otherwise the value -1 is returned and errno is set."
                        .utf8)[...], .roman)
        default:
            let font = MdocMacros.fonts[name] ?? font
            for each in words { word(each, font) }
        }
    }

    private func openBlock(_ text: String, _ words: ArraySlice<Word>) {
        open(text)
        for each in words { word(each, font) }
    }

    private func programName(_ words: ArraySlice<Word>) {
        let first = words.first.flatMap { MdocMacros.closes($0) ? nil : $0 }
        if let first, mdoc.name.isEmpty { mdoc.name = Array(first.prefix(256)) }
        if mdoc.isInSynopsis, mdoc.closers.isEmpty, output.hasText, !mdoc.joins { output.lineBreak() }
        if first == nil { word(mdoc.name[...], .bold) }
        for each in words { word(each, .bold) }
    }

    private func function(_ words: ArraySlice<Word>, isBlock: Bool) {
        guard let name = words.first else { return }
        word(name, .bold)
        output.append("(".utf8, .roman)
        mdoc.joins = true
        if isBlock {
            (mdoc.isInFunction, mdoc.functionArguments) = (true, 0)
            return
        }
        let (arguments, after) = MdocMacros.splitPunctuation(words.dropFirst())
        for (index, each) in arguments.enumerated() {
            if index > 0 { output.append(",".utf8, .roman) }
            word(each, .italic)
        }
        close(")")
        for each in after { word(each, font) }
    }
}
