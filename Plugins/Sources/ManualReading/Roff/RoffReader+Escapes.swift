// SPDX-License-Identifier: Apache-2.0

extension RoffReader {
    /// The maximum nesting of strings in strings.
    private static let maximumNesting = 6

    /// Writes text in the current font, with its escapes interpreted.
    func emit(_ text: ArraySlice<UInt8>) { emit(text, nesting: 0) }

    private func emit(_ text: ArraySlice<UInt8>, nesting: Int) {
        var rest = text
        while let first = rest.first {
            if output.isFull { return }
            if first != UInt8(ascii: "\\") {
                let run = rest.prefix { $0 != UInt8(ascii: "\\") }
                output.append(run, font)
                rest = rest[run.endIndex...]
                continue
            }
            rest = rest.dropFirst()
            guard let escape = rest.popFirst() else { return }
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "#"): return
            case UInt8(ascii: "*"):
                let name = String(decoding: Self.name(&rest), as: UTF8.self)
                if nesting < Self.maximumNesting, let value = string(name) {
                    emit(value[...], nesting: nesting + 1)
                } else if let character = RoffCharacters.strings[name] {
                    output.append(character.utf8, font)
                }
            case UInt8(ascii: "f"): setFont(Self.font(named: Self.name(&rest)))
            case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "C"):
                let name =
                    escape == UInt8(ascii: "(")
                    ? Self.take(2, &rest) : escape == UInt8(ascii: "[") ? Self.bracketed(&rest) : Self.quoted(&rest)
                if let character = RoffCharacters.character(String(decoding: name, as: UTF8.self)) {
                    output.append(character.utf8, font)
                }
            case UInt8(ascii: "c"):
                continues = true
                return
            case UInt8(ascii: "o"), UInt8(ascii: "Z"):
                // Overstruck characters: the first one is the letter.
                emit(Self.quoted(&rest), nesting: min(nesting + 1, Self.maximumNesting))
            case UInt8(ascii: "N"):
                let code = String(decoding: Self.quoted(&rest), as: UTF8.self)
                if let number = UInt32(code), number >= 0x20, let scalar = Unicode.Scalar(number) {
                    output.append(String(Character(scalar)).utf8, font)
                }
            default: simple(escape, &rest)
            }
        }
    }

    /// Handles an escape that produces a character or nothing.
    private func simple(_ escape: UInt8, _ rest: inout ArraySlice<UInt8>) {
        if let text = Self.characters[escape] { return output.append(text.utf8, font) }
        switch escape {
        case UInt8(ascii: "s"): Self.skipSize(&rest)
        case UInt8(ascii: "n"), UInt8(ascii: "k"), UInt8(ascii: "m"), UInt8(ascii: "M"), UInt8(ascii: "F"),
            UInt8(ascii: "g"),
            UInt8(ascii: "Y"), UInt8(ascii: "V"), UInt8(ascii: "O"):
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
            _ = Self.name(&rest)
        case UInt8(ascii: "$"): _ = Self.name(&rest)
        case UInt8(ascii: "h"), UInt8(ascii: "v"), UInt8(ascii: "w"), UInt8(ascii: "l"), UInt8(ascii: "L"),
            UInt8(ascii: "D"),
            UInt8(ascii: "X"), UInt8(ascii: "R"), UInt8(ascii: "S"), UInt8(ascii: "H"), UInt8(ascii: "A"),
            UInt8(ascii: "B"),
            UInt8(ascii: "b"), UInt8(ascii: "x"):
            _ = Self.quoted(&rest)
        case UInt8(ascii: "z"), UInt8(ascii: "&"), UInt8(ascii: "/"), UInt8(ascii: ","), UInt8(ascii: ")"),
            UInt8(ascii: "%"),
            UInt8(ascii: ":"), UInt8(ascii: "|"), UInt8(ascii: "^"), UInt8(ascii: "{"), UInt8(ascii: "}"),
            UInt8(ascii: "d"),
            UInt8(ascii: "u"), UInt8(ascii: "r"), UInt8(ascii: "p"), UInt8(ascii: "a"):
            break
        default: output.append([escape], font)
        }
    }

    private static let characters: [UInt8: String] = [
        UInt8(ascii: "-"): "-", UInt8(ascii: "e"): "\\", UInt8(ascii: "E"): "\\", UInt8(ascii: "\\"): "\\",
        UInt8(ascii: " "): " ", UInt8(ascii: "~"): " ", UInt8(ascii: "0"): " ", UInt8(ascii: "t"): "\t",
        UInt8(ascii: "'"): "´", UInt8(ascii: "`"): "`", UInt8(ascii: "."): ".", UInt8(ascii: "_"): "_",
    ]

    /// Returns the text without fonts, for example for a title.
    func plain(_ text: ArraySlice<UInt8>) -> String {
        let kept = output
        output = ManualText(wantsHTML: false, limit: 4096)
        emit(text)
        output.end()
        let made = output.blocks.first?.text ?? ""
        output = kept
        return made
    }

    /// Returns the arguments of a macro: words, or texts in quotation marks.
    func arguments(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var arguments: [ArraySlice<UInt8>] = []
        var rest = text
        while arguments.count < 1_000 {
            rest = rest.drop { $0 == 0x20 || $0 == 0x09 }
            guard let first = rest.first else { break }
            if rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "\"")]) { break }
            let isQuoted = first == UInt8(ascii: "\"")
            if isQuoted { rest = rest.dropFirst() }
            var argument: [UInt8] = []
            while let byte = rest.popFirst() {
                if byte == UInt8(ascii: "\\"), let next = rest.popFirst() {
                    argument += [byte, next]
                } else if isQuoted, byte == UInt8(ascii: "\"") {
                    // Two quotation marks in a row represent one.
                    guard rest.first == byte else { break }
                    argument.append(byte)
                    rest = rest.dropFirst()
                } else if !isQuoted, byte == 0x20 || byte == 0x09 {
                    break
                } else {
                    argument.append(byte)
                }
            }
            arguments.append(argument[...])
        }
        return arguments
    }

    // MARK: Parts of escapes

    private static func take(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let taken = rest.prefix(count)
        rest = rest[taken.endIndex...]
        return taken
    }

    /// Reads a name: `x`, `(xx` or `[xxx]`.
    private static func name(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        switch rest.first {
        case UInt8(ascii: "("):
            rest = rest.dropFirst()
            return take(2, &rest)
        case UInt8(ascii: "["):
            rest = rest.dropFirst()
            return bracketed(&rest)
        default: return take(1, &rest)
        }
    }

    private static func bracketed(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let name = rest.prefix { $0 != UInt8(ascii: "]") }
        rest = rest[name.endIndex...].dropFirst()
        return name
    }

    /// Reads a text between two equal characters.
    private static func quoted(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        guard let mark = rest.popFirst() else { return [] }
        let text = rest.prefix { $0 != mark }
        rest = rest[text.endIndex...].dropFirst()
        return text
    }

    /// Skips a size: `\s0`, `\s-1`, `\s10`, `\s(10`, `\s[10]`, `\s'10'`.
    private static func skipSize(_ rest: inout ArraySlice<UInt8>) {
        if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
        guard let first = rest.first else { return }
        switch first {
        case UInt8(ascii: "("), UInt8(ascii: "["): _ = name(&rest)
        case UInt8(ascii: "'"): _ = quoted(&rest)
        case UInt8(ascii: "1")...UInt8(ascii: "3"):
            rest = rest.dropFirst()
            if let second = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(second) {
                rest = rest.dropFirst()
            }
        default: rest = rest.dropFirst()
        }
    }
}
