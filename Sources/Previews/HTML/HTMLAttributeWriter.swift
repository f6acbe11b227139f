// SPDX-License-Identifier: Apache-2.0

/// Writes allowed attributes, and counts the others.
struct HTMLAttributeWriter {
    var pictures: PictureStore
    var tally = RemovalTally()
    /// The `media` attribute of the `style` element whose content follows.
    var styleMedia: ArraySlice<UInt8>?
    private let limit: Int

    private static let maximumTextBytes = 4096
    private static let maximumAddressBytes = 8192

    init(_ pictures: PictureStore, limit: Int) {
        self.pictures = pictures
        self.limit = limit
    }

    mutating func write(_ tag: HTMLTag, _ bytes: [UInt8], to output: inout [UInt8]) {
        if tag.omittedAttributes > 0 { tally.note(.attribute, tag.omittedAttributes, name: "more of \(tag.name)") }
        for (name, range) in tag.attributes {
            guard let kind = HTMLElements.value(of: name, in: tag.name) else {
                note(name, bytes[range])
                continue
            }
            if case .own = kind { continue }
            guard let value = value(bytes[range], kind, room: limit - output.count) else { continue }
            output.append(UInt8(ascii: " "))
            output += name.utf8
            output += "=\"".utf8
            output += value
            output.append(UInt8(ascii: "\""))
            if case .link = kind { output += " rel=\"noopener noreferrer\"".utf8 }
        }
    }

    /// Returns the allowed attributes of `html` or `body`: the style and language of the whole
    /// page.
    mutating func ofRoot(_ tag: HTMLTag, _ bytes: [UInt8]) -> [UInt8] {
        var tag = tag
        tag.attributes.removeAll { !["class", "id", "lang", "dir", "style", "bgcolor"].contains($0.name) }
        tag.omittedAttributes = 0
        var output: [UInt8] = []
        write(tag, bytes, to: &output)
        return output
    }

    /// Counts the event handlers in a tag that is not written.
    mutating func noteHandlers(_ tag: HTMLTag, _ bytes: [UInt8]) {
        for (name, range) in tag.attributes where name.hasPrefix("on") { note(name, bytes[range]) }
    }

    /// Returns the best example for a removed tag: its address, or its name.
    func mainValue(_ tag: HTMLTag, _ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let found = tag.attributes.first { ["src", "href", "data", "content", "srcset"].contains($0.name) }
        return found.map { bytes[$0.value] } ?? Array(tag.name.utf8)[...]
    }

    func mediaValue(_ tag: HTMLTag, _ bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let media = tag.attributes.first(where: { $0.name == "media" }) else { return nil }
        return HTMLText.decoded(bytes[media.value].prefix(Self.maximumTextBytes))[...]
    }

    /// Returns the value of a short attribute, in lower case.
    func words(of range: Range<Int>, _ bytes: [UInt8]) -> String {
        let text = StyleFilter.words(HTMLText.decoded(bytes[range].prefix(200))[...])
        return String(decoding: text.map(lowered), as: UTF8.self)
    }

    private mutating func note(_ name: String, _ value: ArraySlice<UInt8>) {
        if name.hasPrefix("on") {
            tally.note(.eventHandler, example: value)
        } else if HTMLElements.loading.contains(name) {
            noteLoad(HTMLText.decoded(value.prefix(Self.maximumTextBytes)))
        } else {
            tally.note(.attribute, name: name)
        }
    }

    private mutating func noteLoad(_ address: [UInt8]) {
        let isFile = address.drop(while: isSpace).prefix(5).map(lowered) == Array("file:".utf8)
        tally.note(isFile ? .fileReference : .remoteLoad, example: address[...])
    }

    // MARK: Values

    /// Returns a value as it is written between quotes. If the attribute is not allowed, counts it
    /// and returns `nil`.
    private mutating func value(_ raw: ArraySlice<UInt8>, _ kind: HTMLElements.Value, room: Int) -> [UInt8]? {
        var output: [UInt8] = []
        switch kind {
        case .own: return nil
        case .text:
            HTMLText.append(raw.prefix(Self.maximumTextBytes + 1), to: &output, isValue: true)
            guard output.count <= Self.maximumTextBytes else {
                tally.note(.attribute, example: raw)
                return nil
            }
        case .number, .colour:
            let text = StyleFilter.words(HTMLText.decoded(raw.prefix(Self.maximumTextBytes))[...])
            let isNumber = Self.isNumber(text)
            if case .number = kind, !isNumber { return noted(.attribute, raw) }
            if case .colour = kind, !Self.isColour(text) { return noted(.attribute, raw) }
            output = Array(text)
        case .link:
            guard let address = link(raw) else { return nil }
            HTMLText.appendLiteral(address[...], to: &output)
        case .picture:
            let address = Self.address(raw)
            do throws(PictureStore.Refusal) {
                output = try pictures.picture(address)
            } catch {
                return noted(error.kind, address[...])
            }
            // A page may contain the same picture many times.
            guard output.count <= room else { return noted(.overflow, address[...]) }
        case .style:
            let (style, omitted) = StyleFilter.declarations(HTMLText.decoded(raw)[...])
            if omitted.count > 0 { tally.note(.style, omitted.count, example: omitted.example) }
            guard !style.isEmpty else { return nil }
            output = style
        }
        return output
    }

    private mutating func noted(_ kind: Removal.Kind, _ example: ArraySlice<UInt8>) -> [UInt8]? {
        tally.note(kind, example: example)
        return nil
    }

    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        let digits = text.last == UInt8(ascii: "%") ? text.dropLast() : text
        return (1...4).contains(digits.count) && digits.allSatisfy(isDigit)
    }

    private static func isColour(_ text: ArraySlice<UInt8>) -> Bool {
        let name = text.first == UInt8(ascii: "#") ? text.dropFirst() : text
        return (1...32).contains(name.count) && name.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// Returns an address in the way that a browser reads it: character references are resolved,
    /// leading and trailing white space and line breaks are removed.
    private static func address(_ raw: ArraySlice<UInt8>) -> [UInt8] {
        let decoded = HTMLText.decoded(raw)
        let start = decoded.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { start[...$0] } ?? []
        return end.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D }
    }

    /// Returns an address that the user may follow: a web page, a mail address, or an anchor in the
    /// same page.
    private mutating func link(_ raw: ArraySlice<UInt8>) -> [UInt8]? {
        let address = Self.address(raw)
        let start = String(decoding: address.prefix(8).map(lowered), as: UTF8.self)
        let isAllowed = start.hasPrefix("#") || Self.linkStarts.contains { start.hasPrefix($0) }
        guard isAllowed, address.count <= Self.maximumAddressBytes else {
            let isFile = start.hasPrefix("file:") || start.hasPrefix("/") && !start.hasPrefix("//")
            let kind: Removal.Kind = isFile ? .fileReference : Self.isRelative(address) ? .relativeLink : .link
            tally.note(kind, example: address[...])
            return nil
        }
        return address
    }

    /// Returns `true` if an address has no scheme and no host. A colon ends a scheme, unless a
    /// path, query or fragment starts before it. A backslash in such a position is not allowed
    /// either.
    private static func isRelative(_ address: [UInt8]) -> Bool {
        guard !address.isEmpty, !address.starts(with: "//".utf8) else { return false }
        let end = address.firstIndex { ":/?#\\".utf8.contains($0) }
        return end.map { address[$0] != UInt8(ascii: ":") && address[$0] != UInt8(ascii: "\\") } ?? true
    }

    private static let linkStarts = ["http://", "https://", "mailto:"]
}
