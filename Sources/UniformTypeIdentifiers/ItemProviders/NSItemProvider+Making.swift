// SPDX-License-Identifier: Apache-2.0

import Foundation

extension NSItemProvider {
    /// Creates a provider for all types to which an object can be converted.
    public convenience init(object: any NSItemProviderWriting) {
        self.init()
        registerObject(object, visibility: .all)
    }

    /// Creates a provider for a file that may be opened in place; `nil` if the URL is not a file
    /// URL. The filename extension determines the type; it is `public.data` for an unknown
    /// extension.
    public convenience init?(contentsOf fileURL: URL!) {
        guard let fileURL, fileURL.isFileURL else { return nil }
        self.init(contentsOf: fileURL, contentType: nil, openInPlace: true)
    }

    /// Creates a provider for a file.
    ///
    /// - Parameters:
    ///   - contentType: The type; `nil` to determine it from the filename extension, or to use
    ///     `public.data` if the extension is unknown.
    ///   - openInPlace: `true` if receivers may open the file in place.
    ///   - coordinated: Has no effect on Linux.
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
