// SPDX-License-Identifier: Apache-2.0

/// Parses and checks a binding in one pass, so that every error has a position.
struct BindingParser {
    var scanner: BindingScanner
    var scope = BindingScope()
    /// The available sources other than names. Set once the purpose is known.
    var sources: Set<BoundValue.Source> = []
    /// `true` if the request has an item with attributes.
    var hasItem = false
    /// `true` if the binding serves a reindex.
    var isReindex = false
    /// `true` if the binding donates files under their paths.
    var donatesFiles = false
    var hasAcknowledgement = false
    /// `true` if the binding calls `type( )`.
    var usesTypes = false
    /// `true` while the calls of a repetition are parsed.
    var isRepeated = false
    /// The current nesting depth of structs and parentheses.
    var depth = 0

    static func parse(_ text: String) throws(BindingError) -> SymbolBinding {
        var parser = BindingParser(scanner: BindingScanner(text))
        guard parser.scanner.bytes.count <= BindingLimits.textBytes else {
            throw parser.scanner.error(
                "The binding has \(parser.scanner.bytes.count) bytes", "The limit is \(BindingLimits.textBytes)")
        }
        return try parser.binding()
    }

    private mutating func binding() throws(BindingError) -> SymbolBinding {
        let purpose = try purpose()
        let libraries = try libraries()
        var calls: [BoundCall] = []
        while scanner.isNext("call") || calls.isEmpty {
            guard calls.count < BindingLimits.calls else {
                throw scanner.error("There are too many calls", "The limit is \(BindingLimits.calls)")
            }
            guard scanner.take("call") else { throw scanner.expected("“call” and a function") }
            calls.append(try call())
        }
        let repetition = try repetition(after: calls.count)
        var attributes: [BoundCallback.Assignment] = []
        if case .attributes = purpose { attributes = try setAttributes() }
        let result = try result(for: purpose)
        var title: BoundValue?
        if case .preview = purpose, scanner.take("title") { title = try value(.text, "the title") }
        guard scanner.isAtEnd() else {
            let more = result == nil ? "“call” or the end" : "the end of the binding"
            throw scanner.expected(more)
        }
        try scope.checkUses(in: scanner)
        return SymbolBinding(
            purpose: purpose, libraries: libraries, calls: calls, repetition: repetition, result: result, title: title,
            attributes: attributes, usesTypes: usesTypes)
    }

    // MARK: The purpose

    private mutating func purpose() throws(BindingError) -> SymbolBinding.Purpose {
        try scanner.require("serve", "at the beginning of a binding")
        scanner.skipSpace()
        let place = scanner.offset
        switch try scanner.word(Self.purposes) {
        case "data": return .data(type: try givenType(.bundlePath), of: try itemTypes())
        case "file": return .file(type: try givenType(.inPlace, .destination), of: try itemTypes())
        case "preview":
            let type = try givenType(.query, .destination)
            guard Self.previewTypes.contains(type) else {
                throw scanner.error(
                    at: place, "A preview cannot be of type \(type)",
                    "It can be of \(Self.previewTypes.joined(separator: ", "))")
            }
            return .preview(type: type, of: try itemTypes())
        case "attributes":
            sources = [.identifier, .contents, .path, .bundlePath]
            hasItem = true
            return .attributes(of: try itemTypes())
        case "reindexAll":
            (sources, isReindex) = ([.bundlePath], true)
            return .reindexAll
        case "files":
            guard let folder = try scanner.literal(), !folder.isEmpty else {
                throw scanner.expected("the folder of the files in quotes")
            }
            (sources, isReindex, donatesFiles) = ([.bundlePath, .filePath], true, true)
            return .files(below: folder)
        case "reindexItems":
            (sources, isReindex) = ([.bundlePath, .identifiers], true)
            return .reindexItems
        case "throttle":
            sources = [.bundlePath, .reason, .rate]
            return .throttle
        case let other:
            throw scanner.error(at: place, "A binding cannot serve “\(other)”", "Write \(Self.purposes)")
        }
    }

    private static let purposes = "data, file, preview, attributes, files, reindexAll, reindexItems or throttle"
    /// The types that `searchlight_preview_reply` accepts.
    private static let previewTypes = [
        "public.html", "public.plain-text", "public.utf8-plain-text", "public.rtf", "public.png", "public.jpeg",
        "com.adobe.pdf",
    ]

    private mutating func givenType(_ more: BoundValue.Source...) throws(BindingError) -> String {
        sources = Set(more + [.identifier, .contents, .path, .type, .bundlePath])
        hasItem = true
        return try scanner.type()
    }

    private mutating func itemTypes() throws(BindingError) -> [String] {
        try scanner.require("of", "and the types of the items")
        var types = [try scanner.type()]
        while scanner.take(",") {
            guard types.count < BindingLimits.types else {
                throw scanner.error("There are too many types", "The limit is \(BindingLimits.types)")
            }
            types.append(try scanner.type())
        }
        return types
    }

    private mutating func libraries() throws(BindingError) -> [String] {
        try scanner.require("library", "and its name in quotes")
        var names: [String] = []
        repeat {
            scanner.skipSpace()
            let place = scanner.offset
            guard let name = try scanner.literal() else { throw scanner.expected("the name of a library in quotes") }
            guard Self.isLibraryName(name) else {
                throw scanner.error(
                    at: place, "“\(name.prefix(80))” is not a library name",
                    "Write its soname, such as libz.so.1, or ./ and the name of a file in the bundle")
            }
            guard names.count < BindingLimits.libraries else {
                throw scanner.error(
                    at: place, "There are too many libraries", "The limit is \(BindingLimits.libraries)")
            }
            names.append(name)
        } while scanner.take(",")
        return names
    }

    private static func isLibraryName(_ name: String) -> Bool {
        let file = name.hasPrefix("./") ? name.dropFirst(2) : name[...]
        return !file.isEmpty && file.first != "." && file.utf8.count <= BindingLimits.nameBytes
            && file.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    }

    // MARK: The result

    private mutating func result(for purpose: SymbolBinding.Purpose) throws(BindingError) -> BoundValue? {
        switch purpose {
        case .attributes, .reindexAll, .files, .reindexItems, .throttle:
            guard scanner.isNext("result") else { return nil }
            throw scanner.error(
                "This binding has no result",
                "Remove it; the request succeeds when the calls succeed")
        case .data:
            try scanner.require("result", "and the answer to the request")
            return try value(.bytes, "the result")
        case .file, .preview:
            try scanner.require("result", "and the answer to the request")
            scanner.skipSpace()
            let place = scanner.offset
            let (value, kind) = try value()
            guard kind == .file || kind == .text || kind == .bytes else {
                throw scanner.error(
                    at: place, "The result is \(kind.rawValue)",
                    "Expected request.destination, file(…) with a path, or the contents of the file")
            }
            return value
        }
    }
}

extension SymbolBinding {
    /// Parses and checks a binding.
    ///
    /// - Throws: ``BindingError`` with the position.
    public init(parsing text: String) throws(BindingError) { self = try BindingParser.parse(text) }
}
