// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSItemProvider {
    /// A provider of what the object can be turned into.
    public convenience init(object: any NSItemProviderWriting) {
        self.init()
        registerObject(object, visibility: .all)
    }

    /// A provider of a file, which may be opened where it lies. Its type is that of the filename extension, `public.data` if
    /// that is unknown; `nil` if the URL is not that of a file.
    public convenience init?(contentsOf fileURL: URL!) {
        guard let fileURL, fileURL.isFileURL else { return nil }
        self.init(contentsOf: fileURL, contentType: nil, openInPlace: true)
    }

    /// A provider of a file.
    ///
    /// - Parameters:
    ///   - contentType: the type; `nil` for that of the filename extension, `public.data` if that is unknown.
    ///   - openInPlace: whether receivers may open the file where it lies.
    ///   - coordinated: handed to receivers, for which it has no effect.
    /// - Note: Differs on Linux: there is no file coordination.
    public convenience init(
        contentsOf fileURL: URL, contentType: UTType?, openInPlace: Bool = false, coordinated: Bool = false,
        visibility: NSItemProviderRepresentationVisibility = .all
    ) {
        self.init()
        let type = contentType ?? UTType(filenameExtension: fileURL.pathExtension) ?? .data
        suggestedName = fileURL.lastPathComponent
        registerFileRepresentation(for: type, visibility: visibility, openInPlace: openInPlace) { completion in
            completion(fileURL, coordinated, nil)
            return nil
        }
    }
}
