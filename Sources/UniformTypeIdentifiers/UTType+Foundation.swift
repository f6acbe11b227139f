// SPDX-License-Identifier: Apache-2.0

import Foundation

extension UTType {
    /// The URL of the format's documentation, as stated in the declaration; not validated. Core
    /// declarations have none.
    public var referenceURL: URL? {
        UTTypeRegistry.currentSnapshot.declaration(of: self)?.referenceURL.flatMap(URL.init(string:))
    }

    /// Returns a file name that indicates this type.
    ///
    /// - Returns: The name with the preferred extension, or the unchanged name if its extension
    ///   already belongs to this type or a subtype, or if the type has no extension.
    func fileName(from name: String) -> String {
        guard let preferred = preferredFilenameExtension, !preferred.isEmpty, !name.isEmpty else { return name }
        let snapshot = UTTypeRegistry.currentSnapshot
        if let present = UTType.filenameExtension(of: name) {
            let types = snapshot.declaredTypes(tag: present, .filenameExtension, conformingTo: self)
            let own = tags[.filenameExtension] ?? []
            if !types.isEmpty || own.contains(where: { $0.lowercased() == present.lowercased() }) { return name }
        }
        return name + "." + preferred
    }
}

extension URL {
    /// Returns the URL with an additional component, adding the type's preferred extension unless
    /// the component has a suitable one. For directory types, the URL is a directory URL.
    public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> URL {
        appendingPathComponent(
            contentType.fileName(from: partialName), isDirectory: contentType.conforms(to: .directory))
    }

    /// Appends a component, adding the type's preferred extension unless the component has a
    /// suitable one.
    public mutating func appendPathComponent(_ partialName: String, conformingTo contentType: UTType) {
        self = appendingPathComponent(partialName, conformingTo: contentType)
    }

    /// Returns the URL with the type's preferred extension added to its last component, unless it
    /// has a suitable one. For example, `puppy.jpg` is unchanged for an image, and becomes
    /// `puppy.jpg.txt` for plain text.
    public func appendingPathExtension(for contentType: UTType) -> URL {
        let name = lastPathComponent
        let wanted = contentType.fileName(from: name)
        guard wanted != name, name != "/" else { return self }
        return deletingLastPathComponent().appendingPathComponent(wanted, isDirectory: hasDirectoryPath)
    }

    /// Adds the type's preferred extension to the last component, unless it has a suitable one.
    public mutating func appendPathExtension(for contentType: UTType) {
        self = appendingPathExtension(for: contentType)
    }
}

extension String {
    /// Returns the path with an additional component, adding the type's preferred extension unless
    /// the component has a suitable one.
    public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> String {
        let name = contentType.fileName(from: partialName)
        return isEmpty || hasSuffix("/") ? self + name : self + "/" + name
    }

    /// Returns the path with the type's preferred extension added to its last component, unless it
    /// has a suitable one.
    public func appendingPathExtension(for contentType: UTType) -> String {
        let name = split(separator: "/").last.map(String.init) ?? ""
        let wanted = contentType.fileName(from: name)
        // The extension is inserted before trailing slashes.
        guard wanted != name, let range = range(of: name, options: .backwards) else { return self }
        return replacingCharacters(in: range, with: wanted)
    }
}

extension NSString {
    /// Returns the path with an additional component, adding the type's preferred extension unless
    /// the component has a suitable one.
    public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> String {
        String(describing: self).appendingPathComponent(partialName, conformingTo: contentType)
    }

    /// Returns the path with the type's preferred extension added to its last component, unless it
    /// has a suitable one.
    public func appendingPathExtension(for contentType: UTType) -> String {
        String(describing: self).appendingPathExtension(for: contentType)
    }
}
