// SPDX-License-Identifier: Apache-2.0

/// The kind of a directory entry, to the extent that it determines a type.
public enum UTFileKind: Hashable, Sendable {
    /// A regular file, with or without an execute bit.
    case regular(isExecutable: Bool)
    /// A directory.
    case directory
    /// The root of a mounted file system.
    case volume
    /// A symbolic link that is not followed.
    case symbolicLink
    /// A named pipe.
    case namedPipe
    /// A socket.
    case socket
    /// A character device.
    case characterDevice
    /// A block device.
    case blockDevice
}

extension UTType {
    /// Returns the type of a file based only on its kind and name (docs/UNIFORM-TYPES.md). No file
    /// is opened.
    ///
    /// - Parameters:
    ///   - name: The file name, with or without parent folders.
    ///   - kind: The kind of file.
    /// - Returns: For a regular file, the type for its extension, which is dynamic if none is
    ///   declared; without an extension, data or Unix executable. For a directory, the type of a
    ///   package, or folder.
    public static func type(ofFileNamed name: String, kind: UTFileKind) -> UTType {
        switch kind {
        case .regular(let isExecutable):
            let plain: UTType = isExecutable ? .unixExecutable : .data
            guard let filenameExtension = filenameExtension(of: name) else { return plain }
            if let declared = declaredType(filenameExtension: filenameExtension, conformingTo: .data) {
                return declared
            }
            return UTType(filenameExtension: filenameExtension, conformingTo: plain) ?? plain
        case .directory:
            guard let filenameExtension = filenameExtension(of: name) else { return .folder }
            return declaredType(filenameExtension: filenameExtension, conformingTo: .directory) ?? .folder
        case .volume: return .volume
        case .symbolicLink: return .symbolicLink
        case .namedPipe: return special("public.named-pipe")
        case .socket: return special("public.socket")
        case .characterDevice: return special("public.character-special")
        case .blockDevice: return special("public.block-special")
        }
    }

    /// Returns the best declared type for an extension; `nil` if there is none.
    static func declaredType(filenameExtension: String, conformingTo supertype: UTType) -> UTType? {
        UTTypeRegistry.currentSnapshot
            .declaredTypes(tag: filenameExtension, .filenameExtension, conformingTo: supertype).first
    }

    private static func special(_ identifier: String) -> UTType { UTType(identifier) ?? .item }

    /// Returns the extension of a file name: the part after the last dot, unless that dot is the
    /// first character or the part is empty.
    static func filenameExtension(of name: String) -> String? {
        let name = name.split(separator: "/").last ?? ""
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return nil }
        let found = name[name.utf8.index(after: dot)...]
        return found.isEmpty ? nil : String(found)
    }
}
