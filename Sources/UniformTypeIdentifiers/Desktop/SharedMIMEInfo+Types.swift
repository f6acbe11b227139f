// SPDX-License-Identifier: Apache-2.0
private import CTables

extension SharedMIMEInfo {
    /// The MIME types that have different names in shared-mime-info and in uniform types.
    static let overrides: [String: String] = {
        let text = ctables_mime_names()
        let bytes = UnsafeBufferPointer(start: text.start, count: text.count)
        let names = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
        let pairs = stride(from: 0, to: names.count, by: 2).map { (names[$0], names[$0 + 1]) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }()

    /// The prefix of private MIME types. It is followed by the type identifier, percent-encoded
    /// where it is not ASCII.
    static let privatePrefix = "application/x-uniform-type."

    // MARK: - From MIME

    /// Returns the uniform type for a MIME type on this desktop (docs/UNIFORM-TYPES.md). The
    /// sources, in order, are private names, the MIME tags of declared types, the table of
    /// differing names, and aliases.
    ///
    /// - Parameter mimeType: The MIME type as it was offered, with its parameters. X11's
    ///   `UTF8_STRING` and `STRING` are treated as plain text. The bytes of a `STRING` are Latin-1
    ///   and have to be converted.
    /// - Returns: A dynamic type if no declared type matches. The dynamic type conforms to the
    ///   nearest mapped parent, else to the type for the media prefix, else to data. Returns `nil`
    ///   for an invalid MIME type, and for `text/uri-list`, which is a list of items.
    public func type(mimeType: String) -> UTType? {
        if mimeType == "UTF8_STRING" || mimeType == "STRING" { return .utf8PlainText }
        guard let name = SharedMIMEInfo.normalized(mimeType), name != "text/uri-list" else { return nil }
        if let declared = declaredType(normalizedMIMEType: name) { return declared }
        return UTType(mimeType: name, conformingTo: parentType(of: name))
    }

    /// Returns the declared type for a MIME type; `nil` if there is none.
    public func declaredType(mimeType: String) -> UTType? {
        SharedMIMEInfo.normalized(mimeType).flatMap(declaredType(normalizedMIMEType:))
    }

    private func declaredType(normalizedMIMEType name: String) -> UTType? {
        if let identifier = SharedMIMEInfo.identifier(inPrivateName: name) { return UTType(identifier) }
        if let type = SharedMIMEInfo.taggedOrOverridden(name) { return type }
        // The offered name takes precedence, because an alias may be a separate uniform type.
        for alias in aliases(of: name) {
            if let type = SharedMIMEInfo.taggedOrOverridden(alias) { return type }
        }
        return nil
    }

    private static func taggedOrOverridden(_ name: String) -> UTType? {
        let tagged = UTTypeRegistry.currentSnapshot.declaredTypes(tag: name, .mimeType, conformingTo: nil)
        return tagged.first ?? overrides[name].flatMap { UTType($0) }
    }

    /// Returns the supertype for a MIME type in the database that has no declared type; `nil` for
    /// an invalid MIME type.
    func promisedType(of mimeType: String) -> UTType? { SharedMIMEInfo.normalized(mimeType).map(parentType) }

    /// Returns the type to which a dynamic type for an unmapped name conforms.
    private func parentType(of name: String) -> UTType {
        // A breadth-first search, because a damaged database may contain cycles.
        var waiting = parents(of: name)[...]
        var visited: Set<String> = [name]
        while let parent = waiting.popFirst() {
            guard visited.insert(parent).inserted else { continue }
            if let type = declaredType(normalizedMIMEType: parent), type.conforms(to: .data) { return type }
            waiting += parents(of: parent)
        }
        switch name.prefix(while: { $0 != "/" }) {
        case "image": return .image
        case "text": return .text
        case "audio": return .audio
        case "video": return .movie
        default: return .data
        }
    }

    /// Returns the MIME type in lowercase and without parameters, except for the character set of
    /// plain text.
    private static func normalized(_ mimeType: String) -> String? {
        guard mimeType.utf8.count <= 1024 else { return nil }
        let parts = mimeType.split(separator: ";", omittingEmptySubsequences: false)
        guard let name = parts.first.flatMap({ mimeName(trimmed($0)) }) else { return nil }
        guard name == "text/plain" else { return name }
        for part in parts.dropFirst() {
            let parameter = trimmed(part).lowercased().filter { $0 != "\"" && $0 != " " }
            if parameter == "charset=utf-8" || parameter == "charset=utf-16" { return name + ";" + parameter }
            if parameter == "charset=utf8" { return name + ";charset=utf-8" }
        }
        return name
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let head = text.drop { $0 == " " || $0 == "\t" }
        guard let last = head.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
        return head[...last]
    }

    // MARK: - To MIME

    /// Returns the MIME types under which a type is offered on this desktop, best first. The list
    /// is never empty.
    ///
    /// The type's own tags come first, with their aliases. A type without tags gets a private name
    /// that contains its identifier, so that the type is recognized when it is read back.
    public func mimeTypes(for type: UTType) -> [String] {
        var names: [String] = []
        func add(_ name: String) {
            if !names.contains(name) { names.append(name) }
        }
        for tag in type.tags[.mimeType] ?? [] {
            add(tag)
            // Adds the aliases, except aliases that belong to another type.
            for alias in aliases(of: tag) where SharedMIMEInfo.taggedOrOverridden(alias).map({ $0 == type }) ?? true {
                add(alias)
            }
        }
        for (name, identifier) in SharedMIMEInfo.overrides.sorted(by: { $0.key < $1.key })
        where identifier == type.identifier && !name.hasPrefix("inode/") {
            add(name)
        }
        if names.isEmpty { names.append(SharedMIMEInfo.privateName(of: type)) }
        return names
    }

    /// Returns the private MIME type that contains a type's identifier.
    public static func privateName(of type: UTType) -> String {
        let hex = Array("0123456789abcdef".utf8)
        var bytes = Array(privatePrefix.utf8)
        for byte in type.identifier.utf8 {
            if byte < 0x80 { bytes.append(byte) } else { bytes += [0x25, hex[Int(byte >> 4)], hex[Int(byte & 15)]] }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the identifier in a private MIME type; `nil` for other MIME types.
    public static func identifier(inPrivateName name: String) -> String? {
        guard name.utf8.starts(with: privatePrefix.utf8) else { return nil }
        var bytes: [UInt8] = []
        var rest = name.utf8.dropFirst(privatePrefix.utf8.count)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: Array(rest.prefix(2)), as: UTF8.self)
            guard digits.utf8.count == 2, digits.utf8.first != UInt8(ascii: "+"), let value = UInt8(digits, radix: 16)
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        guard let identifier = String(validating: bytes, as: UTF8.self) else { return nil }
        return TypeIdentifier.isWellFormed(identifier) ? identifier : nil
    }
}
