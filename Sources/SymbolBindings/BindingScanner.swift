// SPDX-License-Identifier: Apache-2.0

/// Scans words, numbers and texts in a binding.
struct BindingScanner {
    let bytes: [UInt8]
    private(set) var offset = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    func error(at place: Int? = nil, _ problem: String, _ advice: String) -> BindingError {
        BindingError(at: place ?? offset, in: bytes, problem, advice)
    }

    /// A description of the next token, for an error message.
    var found: String {
        guard let byte = current else { return "the end of the binding" }
        guard !Self.isWordByte(byte) else { return "“\(String(decoding: wordBytes.prefix(40), as: UTF8.self))”" }
        let rest = String(decoding: bytes[offset...].prefix(4), as: UTF8.self)
        return rest.unicodeScalars.first.map { $0.value < 0x20 ? "a control character" : "“\($0)”" } ?? "nothing"
    }

    func expected(_ what: String) -> BindingError {
        error("Found \(found)", "Expected \(what)")
    }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    static func isWordByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    /// Skips spaces, line breaks and comments.
    mutating func skipSpace() {
        while let byte = current {
            if byte == UInt8(ascii: "#") {
                while let byte = current, byte != UInt8(ascii: "\n") { offset += 1 }
            } else if [0x20, 0x09, 0x0A, 0x0D].contains(byte) {
                offset += 1
            } else {
                return
            }
        }
    }

    /// Returns `true` if a token is next, without consuming it.
    mutating func isNext(_ sign: String) -> Bool {
        skipSpace()
        guard bytes[offset...].starts(with: sign.utf8) else { return false }
        guard let last = sign.utf8.last, Self.isWordByte(last) else { return true }
        let end = offset + sign.utf8.count
        return end == bytes.count || !Self.isWordByte(bytes[end])
    }

    /// Consumes a token if it is next.
    mutating func take(_ sign: String) -> Bool {
        guard isNext(sign) else { return false }
        offset += sign.utf8.count
        return true
    }

    mutating func require(_ sign: String, _ purpose: String = "") throws(BindingError) {
        guard take(sign) else { throw expected("“\(sign)”" + (purpose.isEmpty ? "" : " \(purpose)")) }
    }

    mutating func isAtEnd() -> Bool {
        skipSpace()
        return offset == bytes.count
    }

    private var wordBytes: ArraySlice<UInt8> { bytes[offset...].prefix { Self.isWordByte($0) } }

    /// Reads a name: letters, digits and `_`; the first character is not a digit.
    mutating func word(_ what: String) throws(BindingError) -> String {
        skipSpace()
        let word = wordBytes
        guard let first = word.first, !Self.isDigit(first) else { throw expected(what) }
        guard word.count <= BindingLimits.nameBytes else {
            throw error("A name has \(word.count) bytes", "The limit is \(BindingLimits.nameBytes)")
        }
        offset += word.count
        return String(decoding: word, as: UTF8.self)
    }

    /// Reads names joined by dots.
    mutating func dottedWord(_ what: String) throws(BindingError) -> String {
        var name = try word(what)
        while current == UInt8(ascii: "."), offset + 1 < bytes.count, Self.isWordByte(bytes[offset + 1]) {
            offset += 1
            name += "." + (try word("the name of a field"))
            guard name.utf8.count <= BindingLimits.nameBytes else {
                throw error("A name has more than \(BindingLimits.nameBytes) bytes", "Choose a shorter one")
            }
        }
        return name
    }

    /// Reads a uniform type identifier.
    mutating func type() throws(BindingError) -> String {
        skipSpace()
        let start = offset
        while let byte = current, Self.isWordByte(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") {
            offset += 1
        }
        let name = bytes[start..<offset]
        guard name.contains(UInt8(ascii: ".")), name.count <= BindingLimits.nameBytes,
            name.first != UInt8(ascii: "."), name.last != UInt8(ascii: ".")
        else {
            offset = start
            throw expected("a uniform type identifier such as public.html")
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// Reads a number with an optional sign; `nil` if no number is next.
    mutating func number() throws(BindingError) -> BoundValue? {
        skipSpace()
        let start = offset
        var digits = offset
        if current == UInt8(ascii: "-") { digits += 1 }
        guard digits < bytes.count, Self.isDigit(bytes[digits]) else { return nil }
        offset = digits
        while let byte = current {
            let isSign = byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
            let followsExponent = [UInt8(ascii: "e"), UInt8(ascii: "E")].contains(bytes[offset - 1])
            let isHexadecimal = bytes[digits...].starts(with: "0x".utf8)
            guard Self.isWordByte(byte) || byte == UInt8(ascii: ".") || isSign && followsExponent && !isHexadecimal
            else { break }
            offset += 1
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        guard let value = Self.number(text) else {
            offset = start
            throw error("“\(text.prefix(40))” is not a number", "Write it as 12, -3, 0x1F, 0.5 or 1e9, within 64 bits")
        }
        return value
    }

    private static func number(_ text: String) -> BoundValue? {
        let isNegative = text.hasPrefix("-")
        let magnitude = isNegative ? text.dropFirst() : text[...]
        let range = Int128(Int64.min)...Int128(UInt64.max)
        let isHexadecimal = magnitude.hasPrefix("0x")
        if let whole = isHexadecimal ? Int128(magnitude.dropFirst(2), radix: 16) : Int128(magnitude) {
            let value = isNegative ? -whole : whole
            return range.contains(value) ? .integer(value) : nil
        }
        guard !isHexadecimal, magnitude.utf8.count <= 40, let value = Double(text), value.isFinite else { return nil }
        return .float(value)
    }

    /// Reads a quoted text; `nil` if no quoted text is next.
    mutating func literal() throws(BindingError) -> String? {
        guard isNext("\"") else { return nil }
        let start = offset
        offset += 1
        var text: [UInt8] = []
        while let byte = current, byte != UInt8(ascii: "\"") {
            offset += 1
            guard byte >= 0x20, byte != 0x7F else {
                throw error(
                    at: offset - 1, "A text has a control character", #"Write \n or \t, or close the quotes"#)
            }
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            switch current {
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): text.append(bytes[offset])
            default: throw error(at: offset - 1, "A text has a lone “\\”", #"Write \\, \", \n or \t"#)
            }
            offset += 1
        }
        guard take("\"") else { throw error(at: start, "A text is not closed", "Close it with a quote") }
        guard text.count <= BindingLimits.literalBytes else {
            throw error(at: start, "A text has \(text.count) bytes", "The limit is \(BindingLimits.literalBytes)")
        }
        return String(decoding: text, as: UTF8.self)
    }
}
