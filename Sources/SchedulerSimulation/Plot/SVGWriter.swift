// SPDX-License-Identifier: Apache-2.0
import IdleScheduling

/// Writes SVG pictures that consist of a few basic shapes. It escapes all text.
struct SVGWriter {
    private(set) var text: String

    init(width: Double, height: Double, title: String, style: String) {
        text = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Self.plain(width)) \(Self.plain(height))" \
            width="\(Self.plain(width))" height="\(Self.plain(height))" role="img">
            <title>\(Self.escaped(title))</title>
            <style>\(style)</style>

            """
    }

    /// Adds markup that is part of this program.
    mutating func add(_ literal: StaticString) { text += "\(literal)\n" }

    mutating func rectangle(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ kind: StaticString, radius: Double = 0,
        title: String? = nil
    ) {
        text += "<rect x=\"\(Self.plain(x))\" y=\"\(Self.plain(y))\" width=\"\(Self.plain(width))\""
        text += " height=\"\(Self.plain(height))\" class=\"\(kind)\""
        if radius > 0 { text += " rx=\"\(Self.plain(radius))\"" }
        text += title.map { "><title>\(Self.escaped($0))</title></rect>\n" } ?? "/>\n"
    }

    mutating func label(_ x: Double, _ y: Double, _ words: String, _ kind: StaticString, title: String? = nil) {
        text += "<text x=\"\(Self.plain(x))\" y=\"\(Self.plain(y))\" class=\"\(kind)\">"
        if let title { text += "<title>\(Self.escaped(title))</title>" }
        text += Self.escaped(words) + "</text>\n"
    }

    mutating func path(_ commands: String, _ kind: StaticString, title: String? = nil) {
        text += "<path d=\"\(Self.escaped(commands))\" class=\"\(kind)\""
        text += title.map { "><title>\(Self.escaped($0))</title></path>\n" } ?? "/>\n"
    }

    mutating func end() { text += "</svg>\n" }

    /// Formats a number with at most one decimal place.
    static func plain(_ number: Double) -> String {
        let tenths = Int((number * 10).rounded().clamped(to: -1e9...1e9))
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// Escapes XML markup, and replaces control characters and bidirectional formatting characters
    /// with spaces.
    static func escaped(_ words: String) -> String {
        var escaped = ""
        for scalar in words.unicodeScalars {
            switch scalar.value {
            case 0x26: escaped += "&amp;"
            case 0x3C: escaped += "&lt;"
            case 0x3E: escaped += "&gt;"
            case 0x22: escaped += "&quot;"
            case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069, 0xFFFE, 0xFFFF: escaped += " "
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
