// SPDX-License-Identifier: Apache-2.0

import Foundation

extension UTType {
    /// Where the format is described, as its declaration says; not checked. The core declarations have none.
    public var referenceURL: URL? {
        UTTypeRegistry.currentSnapshot.declaration(of: self)?.referenceURL.flatMap(URL.init(string:))
    }

    /// A file name that says it is of this type.
    ///
    /// - Returns: The name as it is when its extension belongs to this type or to one below it, or when the type has no
    ///   extension; otherwise the name with the preferred extension.
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
    /// The URL with a further component, which gets the preferred extension of a type unless it has one that fits; a
    /// directory's URL if the type is one.
    public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> URL {
        appendingPathComponent(
            contentType.fileName(from: partialName), isDirectory: contentType.conforms(to: .directory))
    }

    /// Appends a component, which gets the preferred extension of a type unless it has one that fits.
    public mutating func appendPathComponent(_ partialName: String, conformingTo contentType: UTType) {
        self = appendingPathComponent(partialName, conformingTo: contentType)
    }

    /// The URL whose last component has the preferred extension of a type, unless it has one that fits: `puppy.jpg`
    /// stays for an image and becomes `puppy.jpg.txt` for plain text.
    public func appendingPathExtension(for contentType: UTType) -> URL {
        let name = lastPathComponent
        let wanted = contentType.fileName(from: name)
        guard wanted != name, name != "/" else { return self }
        return deletingLastPathComponent().appendingPathComponent(wanted, isDirectory: hasDirectoryPath)
    }

    /// Gives the last component the preferred extension of a type, unless it has one that fits.
    public mutating func appendPathExtension(for contentType: UTType) {
        self = appendingPathExtension(for: contentType)
    }
}

extension String {
    /// The path with a further component, which gets the preferred extension of a type unless it has one that fits.
    public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> String {
        let name = contentType.fileName(from: partialName)
        return isEmpty || hasSuffix("/") ? self + name : self + "/" + name
    }

    /// The path whose last component has the preferred extension of a type, unless it has one that fits.
    public func appendingPathExtension(for contentType: UTType) -> String {
        let name = split(separator: "/").last.map(String.init) ?? ""
        let wanted = contentType.fileName(from: name)
        // Slashes at the end belong behind the extension.
        guard wanted != name, let range = range(of: name, options: .backwards) else { return self }
        return replacingCharacters(in: range, with: wanted)
    }
}

extension NSString {
    /// The path with a further component, which gets the preferred extension of a type unless it has one that fits.
    public func appendingPathComponent(_ partialName: String, conformingTo contentType: UTType) -> String {
        String(describing: self).appendingPathComponent(partialName, conformingTo: contentType)
    }

    /// The path whose last component has the preferred extension of a type, unless it has one that fits.
    public func appendingPathExtension(for contentType: UTType) -> String {
        String(describing: self).appendingPathExtension(for: contentType)
    }
}
