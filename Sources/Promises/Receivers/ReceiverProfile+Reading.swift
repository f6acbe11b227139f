// SPDX-License-Identifier: Apache-2.0
import Foundation
import JSONText
import UniformTypeIdentifiers

extension ReceiverProfile {
    /// The maximum size of a profile file, in bytes.
    public static let maximumBytes = 64 << 10
    private static let maximumTypes = 64
    private static let maximumTypeBytes = 255
    private static let maximumNameBytes = 64
    private static let maximumTitleCharacters = 80

    /// Reads a profile from a JSON object with these keys:
    ///
    /// - `title`: a string.
    /// - `accepts`: types, MIME types or extensions, best first.
    /// - `takes`: some of `data`, `file` and `inPlace`, best first; optional, by default all of
    ///   them.
    /// - `order`: `preference`, or `set` to let the source choose; optional.
    ///
    /// Any other key is an error, because it would have no effect.
    ///
    /// - Parameters:
    ///   - bytes: The file's contents.
    ///   - name: The name for commands: the file name without its extension.
    ///   - path: The file's path; `nil` for a built-in profile.
    public init(_ bytes: Data, name: String, path: String?) throws(ReceiverProblem) {
        let reader = ProfileReader(path: path ?? name)
        try reader.check(name: name, maximumBytes: Self.maximumNameBytes)
        guard bytes.count <= Self.maximumBytes else {
            throw reader.problem("it has \(bytes.count) bytes; the limit is \(Self.maximumBytes).")
        }
        let object = try reader.object(bytes)
        for key in object.keys.sorted() where !["title", "accepts", "takes", "order"].contains(key) {
            throw reader.problem("it has the unknown key \(key.debugDescription).")
        }
        self.name = name
        self.path = path
        title = try reader.text(object["title"] ?? .text(name), "title")
        guard !title.isEmpty, title.count <= Self.maximumTitleCharacters else {
            throw reader.problem(
                "its title has \(title.count) characters; it needs 1 to \(Self.maximumTitleCharacters).")
        }
        accepts = try reader.types(object["accepts"], maximum: Self.maximumTypes, maximumBytes: Self.maximumTypeBytes)
        takes = try reader.forms(object["takes"])
        order = try reader.order(object["order"])
    }
}

/// Reads the parts of a profile, with precise errors.
private struct ProfileReader {
    let path: String

    func problem(_ reason: String) -> ReceiverProblem { ReceiverProblem(path: path, reason: reason) }

    func check(name: String, maximumBytes: Int) throws(ReceiverProblem) {
        let isGood = name.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        }
        guard isGood, (1...maximumBytes).contains(name.utf8.count), !name.hasPrefix("-") else {
            throw problem(
                """
                its name \(name.debugDescription) must have only lower case letters, digits and hyphens, at most \
                \(maximumBytes).
                """)
        }
    }

    /// The depth of an object with lists of texts.
    private static let maximumDepth = 2

    func object(_ bytes: Data) throws(ReceiverProblem) -> [String: JSONValue] {
        let value: JSONValue
        do throws(JSONProblem) {
            value = try JSONValue(reading: Array(bytes)[...], maximumDepth: Self.maximumDepth)
        } catch {
            throw problem(error.text)
        }
        guard let object = value.members else { throw problem("it is JSON, but not an object.") }
        return object
    }

    func text(_ value: JSONValue, _ key: String) throws(ReceiverProblem) -> String {
        guard case .text(let text) = value else { throw problem("“\(key)” must be a string.") }
        return text
    }

    func texts(_ value: JSONValue?, _ key: String, maximum: Int) throws(ReceiverProblem) -> [String] {
        guard let value else { throw problem("“\(key)” is missing.") }
        guard case .list(let elements) = value else { throw problem("“\(key)” must be a list of strings.") }
        var texts: [String] = []
        for element in elements {
            guard case .text(let text) = element else { throw problem("“\(key)” must be a list of strings.") }
            texts.append(text)
        }
        guard (1...maximum).contains(texts.count) else {
            throw problem("“\(key)” has \(texts.count) entries; it needs 1 to \(maximum).")
        }
        var seen: Set<String> = []
        for text in texts where !seen.insert(text.lowercased()).inserted {
            throw problem("“\(key)” has \(text.debugDescription) twice.")
        }
        return texts
    }

    /// Returns the identifiers of the types. Repeated names of the same type are skipped.
    func types(_ value: JSONValue?, maximum: Int, maximumBytes: Int) throws(ReceiverProblem) -> [String] {
        var types: [String] = []
        for text in try texts(value, "accepts", maximum: maximum) {
            let type = WrittenType(text)
            // An undeclared type may belong to an item's app, but it must have the form of an
            // identifier.
            let isIdentifier = !type.isTag && !text.contains(" ") && (text.contains(".") || type.isDeclared)
            guard text.utf8.count <= maximumBytes, type.isTag || isIdentifier else {
                throw problem(
                    """
                    \(text.debugDescription) in “accepts” is neither a type identifier, such as public.html, nor a MIME type, such \
                    as text/html, nor a file name extension, such as .html.
                    """)
            }
            guard !type.isTag || type.isDeclared else {
                throw problem(
                    """
                    No type is declared for \(text.debugDescription) in “accepts”. Use a type such as public.html; \
                    “searchlight types tree” lists them.
                    """)
            }
            if !types.contains(type.identifier) { types.append(type.identifier) }
        }
        return types
    }

    func forms(_ value: JSONValue?) throws(ReceiverProblem) -> [Representation.Form] {
        guard let value else { return Representation.Form.allCases }
        var forms: [Representation.Form] = []
        for text in try texts(value, "takes", maximum: Representation.Form.allCases.count) {
            switch text {
            case "data": forms.append(.data)
            case "file": forms.append(.file)
            case "inPlace": forms.append(.inPlaceFile)
            default:
                throw problem("“takes” has \(text.debugDescription). Use “data”, “file” and “inPlace”.")
            }
        }
        return forms
    }

    func order(_ value: JSONValue?) throws(ReceiverProblem) -> UTTypeResolver.Preference {
        switch value {
        case nil, .text("preference"): return .receiver
        case .text("set"): return .source
        default: throw problem("“order” must be “preference” or “set”.")
        }
    }
}
