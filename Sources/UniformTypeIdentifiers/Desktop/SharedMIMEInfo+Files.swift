// SPDX-License-Identifier: Apache-2.0

extension SharedMIMEInfo {
    /// The evidence that determined the type of a file.
    public enum Evidence: String, Hashable, Sendable {
        /// The kind of the file, such as a directory, link or device.
        case kind
        /// A declared type that has the file's extension.
        case filenameExtension
        /// A pattern of the desktop's database that matches the file name.
        case desktopPattern
        /// A rule of the desktop's database that matches the contents, or readable text.
        case contents
        /// The execute bit of a file without an extension.
        case executableBit
        /// No evidence; the type is dynamic or data.
        case nothing
    }

    /// The type of a file and its evidence.
    public struct FileType: Hashable, Sendable {
        /// The type.
        public let type: UTType
        /// The evidence.
        public let evidence: Evidence
    }

    /// Determines the type of a file: by its kind, then by its name, then by its contents. For
    /// names, declared types take precedence over the desktop's patterns.
    ///
    /// Contents are considered only if the name yields no declared type, or if its extension
    /// belongs both to a text type and to another type. A program without an extension is an
    /// executable, regardless of its contents. Links are not followed. An unreadable file is
    /// classified by its name.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The type and its evidence; `nil` if the file does not exist.
    public func type(ofFile path: String) -> FileType? {
        guard let kind = FileBytes.kind(of: path) else { return nil }
        return type(ofFileNamed: path, kind: kind) {
            FileBytes.read(path, limit: SharedMIMEInfo.bytesNeeded)
        }
    }

    /// Determines the type of a file from its name, its kind, and its contents. Contents are read
    /// only if they are needed.
    ///
    /// - Parameters:
    ///   - name: The file name, with or without parent folders.
    ///   - kind: The kind of file.
    ///   - contents: Returns the beginning of the contents, at least ``bytesNeeded`` if available.
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
        // The pattern's type is not declared, but a parent of it is.
        let promised = mapped.isEmpty ? promisedType(ofPatterns: candidates, filenameExtension) : nil
        if filenameExtension != nil, let promised { return FileType(type: promised, evidence: .desktopPattern) }
        // If the name is not conclusive or matches several patterns, a rule of the database
        // decides. Readable contents are weaker evidence than an extension, even an undeclared one.
        let bytes = contents()
        let found = ruledType(ofContents: bytes) ?? (filenameExtension == nil ? readableType(ofContents: bytes) : nil)
        if let found, mapped.isEmpty || mapped.contains(found) { return FileType(type: found, evidence: .contents) }
        if let first = mapped.first ?? promised { return FileType(type: first, evidence: .desktopPattern) }
        return FileType(type: byName, evidence: .nothing)
    }

    /// Returns a dynamic type for a file whose patterns have no declared type. The type conforms to
    /// the nearest mapped parent of the first pattern's MIME type.
    ///
    /// - Returns: `nil` if there is no such parent, or if the parent is data.
    private func promisedType(ofPatterns candidates: [String], _ filenameExtension: String?) -> UTType? {
        guard let name = candidates.first, let parent = promisedType(of: name), parent != .data else { return nil }
        guard let filenameExtension else { return UTType(mimeType: name, conformingTo: parent) }
        return UTType(filenameExtension: filenameExtension, conformingTo: parent)
    }

    /// Returns another declared type for an extension that is used both for text and for other
    /// data. For example, a `.ts` file may be a video or a program.
    ///
    /// - Returns: `nil` if there is no such type, if the contents match the best type, or if the
    ///   file is empty.
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

    /// Returns the declared type suggested by the beginning of the contents, for data that has no
    /// name and no declared type.
    ///
    /// - Returns: `nil` if no rule matches, if there is no uniform type for the rule's type, or if
    ///   there is no data.
    public func type(ofContents bytes: [UInt8]) -> UTType? {
        ruledType(ofContents: bytes) ?? readableType(ofContents: bytes)
    }

    /// Returns the declared type for the matching rule.
    private func ruledType(ofContents bytes: [UInt8]) -> UTType? {
        guard let type = mimeType(ofContents: bytes).flatMap(declaredType(mimeType:)) else { return nil }
        return type.conforms(to: .data) && type != .data ? type : nil
    }

    /// Returns plain text if no rule matches and the contents are readable text.
    private func readableType(ofContents bytes: [UInt8]) -> UTType? {
        guard !bytes.isEmpty, mimeType(ofContents: bytes) == nil else { return nil }
        return SharedMIMEInfo.looksLikeText(bytes) ? .plainText : nil
    }

    /// Returns `true` if the beginning is valid UTF-8 without control characters, except white
    /// space and ESC.
    private static func looksLikeText(_ bytes: [UInt8]) -> Bool {
        let start = bytes.prefix(4096)
        let isPrintable = start.allSatisfy { byte in
            byte >= 0x20 && byte != 0x7F || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D || byte == 0x1B
        }
        guard isPrintable else { return false }
        // The cut may be inside a character, so up to three bytes at the end are ignored.
        return (0...3).contains { dropped in
            (dropped == 0 || start.count == 4096) && String(validating: start.dropLast(dropped), as: UTF8.self) != nil
        }
    }
}
