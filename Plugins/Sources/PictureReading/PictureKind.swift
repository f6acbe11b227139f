// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight
import Synchronization

/// A picture's format and uniform type, determined only by the file name.
package struct PictureKind: Sendable, Equatable {
    /// The format that determines the reader.
    package enum Format: Sendable, Equatable, CaseIterable {
        case jpeg, png, tiff, webP, gif, heif
        /// A camera's raw file, whose preview is an embedded JPEG.
        case raw
    }

    package var format: Format
    /// The uniform type identifier, determined by the file name extension.
    package var contentType: String

    /// Creates the kind of a file with this name, which has no directories. Returns nil if the name
    /// is not a picture's name. Case is ignored.
    package init?(fileName: String) {
        guard let dot = fileName.utf8.lastIndex(of: UInt8(ascii: ".")), dot != fileName.startIndex else { return nil }
        let ending = fileName[fileName.utf8.index(after: dot)...].lowercased()
        guard let kind = Self.kind(ofExtension: ending) else { return nil }
        self = kind
    }

    private init(format: Format, contentType: String) {
        self.format = format
        self.contentType = contentType
    }

    /// The kinds by extension, because a lookup in the type tables takes longer than the rest of
    /// the walk for a file.
    private static let known = Mutex<[String: PictureKind?]>([:])
    private static let maximumKnown = 4096

    private static func kind(ofExtension ending: String) -> PictureKind? {
        guard !ending.isEmpty, ending.utf8.count <= 32 else { return nil }
        if let kind = known.withLock({ $0[ending] }) { return kind }
        let kind = UTType(filenameExtension: ending).flatMap { type in
            format(of: type).map { PictureKind(format: $0, contentType: type.identifier) }
        }
        known.withLock { if $0.count < maximumKnown { $0[ending] = .some(kind) } }
        return kind
    }

    /// The formats by supertype of the picture's type.
    private static let formats: [(type: String, format: Format)] = [
        ("public.jpeg", .jpeg), ("public.png", .png), ("public.tiff", .tiff), ("org.webmproject.webp", .webP),
        ("com.compuserve.gif", .gif), ("public.heif-standard", .heif), ("public.camera-raw-image", .raw),
    ]

    private static func format(of type: UTType) -> Format? {
        formats.first { UTType($0.type).map { type.conforms(to: $0) } ?? false }?.format
    }
}
