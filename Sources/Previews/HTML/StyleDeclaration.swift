// SPDX-License-Identifier: Apache-2.0

/// A property with its value, both of which are allowed in a preview.
struct StyleDeclaration {
    /// The declaration as written: `property:value`.
    let bytes: [UInt8]

    private static let maximumValueBytes = 1000
    private static let maximumDepth = 8

    /// Parses a declaration with normalised white space; `nil` if it is not allowed.
    init?(_ text: ArraySlice<UInt8>) {
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = text[..<colon].filter { $0 != 0x20 }.map(lowered)
        let property = String(decoding: name, as: UTF8.self)
        let isCustom = Self.isCustom(property)
        guard isCustom || Self.isAllowed(property) else { return nil }
        // A custom property that uses others could double the size with each level.
        guard let value = Self.value(StyleFilter.words(text[(colon + 1)...]), mayVary: !isCustom) else { return nil }
        bytes = name + [UInt8(ascii: ":")] + value
    }

    private static func isCustom(_ property: String) -> Bool {
        property.hasPrefix("--") && (3...64).contains(property.utf8.count)
            && property.utf8.allSatisfy {
                isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            }
    }

    private static func isAllowed(_ property: String) -> Bool {
        properties.contains(property)
            || families.contains { property.hasPrefix($0) && property.utf8.dropFirst($0.utf8.count).first == 0x2D }
    }

    // MARK: Values

    /// Returns a value that consists of words, numbers, colours, quoted names and computing
    /// functions; `nil` for any other value.
    private static func value(_ text: ArraySlice<UInt8>, mayVary: Bool) -> [UInt8]? {
        guard !text.isEmpty, text.count <= maximumValueBytes else { return nil }
        var output: [UInt8] = []
        var depth = 0
        var position = text.startIndex
        while position < text.endIndex {
            let byte = text[position]
            position += 1
            switch byte {
            case UInt8(ascii: "("):
                let name = output.reversed().prefix { isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") }
                let function = String(decoding: name.reversed().map(lowered), as: UTF8.self)
                guard function.isEmpty ? depth > 0 : functions.contains(function), mayVary || function != "var" else {
                    return nil
                }
                depth += 1
                guard depth <= maximumDepth else { return nil }
                output.append(byte)
            case UInt8(ascii: ")"):
                depth -= 1
                guard depth >= 0 else { return nil }
                output.append(byte)
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                guard let end = text[position...].firstIndex(of: byte),
                    text[position..<end].allSatisfy({ isLetter($0) || isDigit($0) || " -_.,".utf8.contains($0) })
                else { return nil }
                output.append(UInt8(ascii: "'"))
                output += text[position..<end]
                output.append(UInt8(ascii: "'"))
                position = end + 1
            case UInt8(ascii: "!"):
                guard depth == 0, text[position...].map(lowered) == Array("important".utf8) else { return nil }
                return output.isEmpty ? nil : output + Array("!important".utf8)
            default:
                guard isLetter(byte) || isDigit(byte) || " -_.,#%+*/".utf8.contains(byte) else { return nil }
                output.append(byte)
            }
        }
        return depth == 0 ? output : nil
    }

    private static let functions: Set<String> = [
        "rgb", "rgba", "hsl", "hsla", "hwb", "lab", "lch", "oklab", "oklch", "color", "color-mix", "light-dark", "calc",
        "min", "max", "clamp", "var", "linear-gradient", "radial-gradient", "conic-gradient",
        "repeating-linear-gradient",
        "minmax", "repeat", "fit-content",
    ]

    // MARK: Properties

    /// The allowed properties. None of them moves an element, animates it, or generates text.
    private static let properties: Set<String> = [
        "accent-color", "aspect-ratio", "background", "background-attachment", "background-clip", "background-color",
        "background-image", "background-origin", "background-position", "background-repeat", "background-size",
        "border",
        "border-collapse", "border-radius", "border-spacing", "box-shadow", "box-sizing", "caption-side", "clear",
        "color",
        "color-scheme", "column-gap", "columns", "direction", "display", "empty-cells", "flex", "float", "font", "gap",
        "height", "hyphens", "letter-spacing", "line-height", "list-style", "list-style-position", "list-style-type",
        "margin", "max-height", "max-width", "min-height", "min-width", "object-fit", "object-position", "opacity",
        "order",
        "orphans", "outline", "overflow", "overflow-wrap", "overflow-x", "overflow-y", "padding", "row-gap", "tab-size",
        "table-layout", "text-align", "unicode-bidi", "vertical-align", "visibility", "white-space", "widows", "width",
        "word-break", "word-spacing", "word-wrap", "writing-mode",
    ]
    /// Prefixes of allowed properties: the names themselves, and names that continue with a hyphen.
    private static let families = [
        "align", "border", "break", "column", "flex", "font", "grid", "justify", "margin", "outline", "padding",
        "page-break",
        "place", "text",
    ]
}
