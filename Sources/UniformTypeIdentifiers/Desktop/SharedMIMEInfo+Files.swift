// SPDX-License-Identifier: Apache-2.0

extension SharedMIMEInfo {
    /// What decided about the type of a file.
    public enum Evidence: String, Hashable, Sendable {
        /// A directory, link, device and so on.
        case kind
        /// The extension is a declared type's.
        case filenameExtension
        /// The file name matches a pattern of the desktop's database.
        case desktopPattern
        /// The contents match a rule of the desktop's database, or are readable text.
        case contents
        /// No extension, and the execute bit is set.
        case executableBit
        /// Nothing is known; the type is dynamic or data.
        case nothing
    }

    /// The type of a file and what decided.
    public struct FileType: Hashable, Sendable {
        /// The type.
        public let type: UTType
        /// What decided.
        public let evidence: Evidence
    }

    /// The type of a file: by its kind; by its name, the declared types before the desktop's patterns; then by its contents.
    ///
    /// Contents count only where the name gives no declared type; a program without an extension is an executable whatever
    /// it holds. Links are not followed, and a file that cannot be read is judged by name.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: `nil` when there is no such file.
    public func type(ofFile path: String) -> FileType? {
        guard let kind = FileBytes.kind(of: path) else { return nil }
        return type(ofFileNamed: path, kind: kind) {
            FileBytes.read(path, limit: SharedMIMEInfo.bytesNeeded)
        }
    }

    /// The type of something with a name, a kind and contents that are fetched only if they decide.
    ///
    /// - Parameters:
    ///   - name: The file name, with or without folders before it.
    ///   - kind: What it is.
    ///   - contents: Gives the beginning of the contents, at least ``bytesNeeded`` if there are as many.
    public func type(ofFileNamed name: String, kind: UTFileKind, contents: () -> [UInt8]) -> FileType {
        let byName = UTType.type(ofFileNamed: name, kind: kind)
        guard case .regular(let isExecutable) = kind else { return FileType(type: byName, evidence: .kind) }
        let filenameExtension = UTType.filenameExtension(of: name)
        if let filenameExtension, !byName.isDynamic {
            if let other = otherOwner(ofExtension: filenameExtension, than: byName, contents: contents) {
                return FileType(type: other, evidence: .contents)
            }
            return FileType(type: byName, evidence: .filenameExtension)
        }

        let candidates = mimeTypes(forFileNamed: name)
        let mapped = candidates.compactMap(declaredType(mimeType:)).filter { $0.conforms(to: .data) }
        if mapped.count == 1 || Set(mapped).count == 1, let only = mapped.first {
            return FileType(type: only, evidence: .desktopPattern)
        }
        if filenameExtension == nil, mapped.isEmpty, isExecutable {
            return FileType(type: byName, evidence: .executableBit)
        }
        // What the pattern means has no declared type, but is a kind of something.
        let promised = mapped.isEmpty ? promisedType(ofPatterns: candidates, filenameExtension) : nil
        if filenameExtension != nil, let promised { return FileType(type: promised, evidence: .desktopPattern) }
        // A rule of the database decides where the name does not, or among several patterns. That something is readable
        // says less than an extension, even one nobody declares.
        let bytes = contents()
        let found = ruledType(ofContents: bytes) ?? (filenameExtension == nil ? readableType(ofContents: bytes) : nil)
        if let found, mapped.isEmpty || mapped.contains(found) { return FileType(type: found, evidence: .contents) }
        if let first = mapped.first ?? promised { return FileType(type: first, evidence: .desktopPattern) }
        return FileType(type: byName, evidence: .nothing)
    }

    /// A dynamic type for a file whose patterns have no declared type, below what they are a kind of; `nil` if that says nothing.
    private func promisedType(ofPatterns candidates: [String], _ filenameExtension: String?) -> UTType? {
        guard let name = candidates.first, let parent = promisedType(of: name), parent != .data else { return nil }
        guard let filenameExtension else { return UTType(mimeType: name, conformingTo: parent) }
        return UTType(filenameExtension: filenameExtension, conformingTo: parent)
    }

    /// Another declared type with the same extension, where the one is text and the other is not, and the contents say that it is
    /// the other one: a `.ts` file is a film or a program.
    private func otherOwner(
        ofExtension filenameExtension: String, than best: UTType, contents: () -> [UInt8]
    ) -> UTType? {
        let isText = best.conforms(to: .text)
        let others = UTTypeRegistry.currentSnapshot
            .declaredTypes(tag: filenameExtension, .filenameExtension, conformingTo: .data)
        guard let other = others.first(where: { $0.conforms(to: .text) != isText }) else { return nil }
        let bytes = contents()
        return bytes.isEmpty || SharedMIMEInfo.looksLikeText(bytes) == isText ? nil : other
    }

    /// The declared type that the beginning of some contents suggests, for data with no name and no declared type.
    ///
    /// - Returns: `nil` when no rule matches, the rule's type has no uniform type, or there is nothing to look at.
    public func type(ofContents bytes: [UInt8]) -> UTType? {
        ruledType(ofContents: bytes) ?? readableType(ofContents: bytes)
    }

    /// The declared type of the rule that matches.
    private func ruledType(ofContents bytes: [UInt8]) -> UTType? {
        guard let type = mimeType(ofContents: bytes).flatMap(declaredType(mimeType:)) else { return nil }
        return type.conforms(to: .data) && type != .data ? type : nil
    }

    /// Plain text, if no rule knows better and it can be read.
    private func readableType(ofContents bytes: [UInt8]) -> UTType? {
        guard !bytes.isEmpty, mimeType(ofContents: bytes) == nil else { return nil }
        return SharedMIMEInfo.looksLikeText(bytes) ? .plainText : nil
    }

    /// Whether there are no control characters but white space in the beginning, and no broken UTF-8.
    private static func looksLikeText(_ bytes: [UInt8]) -> Bool {
        let start = bytes.prefix(4096)
        let isPrintable = start.allSatisfy { byte in
            byte >= 0x20 && byte != 0x7F || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D || byte == 0x1B
        }
        guard isPrintable else { return false }
        // The cut may fall into a character: up to three bytes at the end do not count.
        return (0...3).contains { dropped in
            (dropped == 0 || start.count == 4096) && String(validating: start.dropLast(dropped), as: UTF8.self) != nil
        }
    }
}
