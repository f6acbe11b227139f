// SPDX-License-Identifier: Apache-2.0
import FileReading

/// An unfolded line in vCard or iCalendar: a name, parameters and a value.
package struct ContentLine: Sendable, Equatable {
    /// The maximum number of parameters; the rest is ignored.
    static let maximumParameters = 64

    package struct Parameter: Sendable, Equatable {
        /// The name in upper case.
        package var name: String
        package var value: String
    }

    /// The group name in lower case, as in `item1.EMAIL`; nil without one.
    package var group: String?
    /// The name in upper case.
    package var name: String
    package var parameters: [Parameter]
    /// The value as written in the file.
    package var rawValue: ArraySlice<UInt8>

    /// Parses a line; nil if it has no name or no colon.
    package init?(_ line: ArraySlice<UInt8>) {
        guard let nameEnd = line.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") }) else {
            return nil
        }
        var name = line[..<nameEnd]
        if let dot = name.lastIndex(of: UInt8(ascii: ".")) {
            group = String(decoding: name[..<dot].prefix(64), as: UTF8.self).lowercased()
            name = name[(dot + 1)...]
        }
        guard (1...64).contains(name.count), name.allSatisfy(Self.isName) else { return nil }
        self.name = String(decoding: name, as: UTF8.self).uppercased()
        parameters = []
        var position = nameEnd
        while line[position] == UInt8(ascii: ";") {
            guard let parameter = Self.parameter(in: line, from: &position) else { return nil }
            if parameters.count < Self.maximumParameters { parameters += parameter }
        }
        rawValue = line[(position + 1)...]
    }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Parses a parameter, whose values are separated by commas, and advances to the next `;` or
    /// `:`. vCard 2.1 allows values without a name, such as `;HOME`; these are values of `TYPE`.
    ///
    /// - Returns: One parameter for each value; nil if the line ends before the value.
    private static func parameter(in line: ArraySlice<UInt8>, from position: inout Int) -> [Parameter]? {
        var index = position + 1
        var name: String?
        var values: [String] = []
        var part: [UInt8] = []
        var isQuoted = false
        while index < line.endIndex {
            let byte = line[index]
            if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if isQuoted {
                part.append(byte)
            } else if byte == UInt8(ascii: "="), name == nil, values.isEmpty {
                name = String(decoding: part.prefix(64), as: UTF8.self).uppercased()
                part = []
            } else if byte == UInt8(ascii: ",") {
                if values.count < maximumParameters { values.append(decoded(part)) }
                part = []
            } else if byte == UInt8(ascii: ";") || byte == UInt8(ascii: ":") {
                values.append(decoded(part))
                position = index
                let named = name ?? bareName(values[0])
                return values.map { Parameter(name: named, value: $0) }
            } else {
                part.append(byte)
            }
            index += 1
        }
        return nil
    }

    private static func bareName(_ value: String) -> String {
        switch value.uppercased() {
        case "QUOTED-PRINTABLE", "BASE64", "8BIT", "7BIT": "ENCODING"
        default: "TYPE"
        }
    }

    /// Decodes a parameter value with the escapes `^n`, `^^` and `^'` (RFC 6868).
    private static func decoded(_ bytes: [UInt8]) -> String {
        let text = ContentText.decoded(bytes[...], charset: nil)
        guard text.utf8.contains(UInt8(ascii: "^")) else { return text }
        var result = ""
        var rest = text[...]
        while let mark = rest.firstIndex(of: "^") {
            result += rest[..<mark]
            let next = rest.index(after: mark)
            let escaped: Character? = next < rest.endIndex ? rest[next] : nil
            switch escaped {
            case "n": result += "\n"
            case "^": result += "^"
            case "'": result += "\""
            default:
                result += "^"
                rest = rest[next...]
                continue
            }
            rest = rest[rest.index(after: next)...]
        }
        return result + rest
    }

    /// Returns the first value of a parameter.
    package func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }

    /// The values of `TYPE` in lower case. A quoted value may list several.
    package var types: Set<String> {
        Set(
            parameters.lazy.filter { $0.name == "TYPE" }
                .flatMap { $0.value.lowercased().split(separator: ",").map(String.init) })
    }

    /// `true` if `PREF` or a type marks this value as preferred.
    package var isPreferred: Bool { parameter("PREF") == "1" || types.contains("pref") }
}
