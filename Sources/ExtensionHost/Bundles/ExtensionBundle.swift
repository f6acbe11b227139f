// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// An extension bundle that was found, read and accepted. Nothing of it has been loaded.
public struct ExtensionBundle: Hashable, Sendable {
    /// The `.searchext` directory, absolute, as it was found; a symbolic link where it was one.
    public var path: String
    /// The directory itself, absolute: ``path``, or where that led when it was looked at.
    public var directory: String
    /// What its manifest says.
    public var manifest: ExtensionManifest
    /// What tells this state of the bundle from another.
    public var fingerprint: Fingerprint

    /// The bundle identifier.
    public var identifier: String { manifest.identifier }
    /// The library, absolute; `nil` for an extension without code of its own.
    public var libraryPath: String? { manifest.libraryName.map { directory + "/" + $0 } }

    /// How a bundle directory's name ends.
    public static let suffix = ".searchext"

    /// What tells one state of a bundle from another: its manifest's content and its library's identity. A bundle that is
    /// replaced, and be it by the same, has another.
    public struct Fingerprint: Hashable, Sendable, Codable {
        /// A digest of the manifest.
        public var manifest: UInt64
        /// The library's file system, number, size and time of change.
        public var library: [Int64]

        init(manifest: UInt64, library: FileStamp) {
            self.manifest = manifest
            // Not when the mode changed last: that changes nothing a worker has loaded.
            self.library = [
                Int64(truncatingIfNeeded: library.device), Int64(truncatingIfNeeded: library.inode), library.size,
                library.modified,
            ]
        }
    }

    /// What is odd about the bundle and does not keep it from being used.
    public var warnings: [BundleWarning] {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var warnings: [BundleWarning] = []
        if name != identifier + Self.suffix {
            warnings.append(.nameMismatch(directory: name, identifier: identifier))
        }
        let read = manifest.access.readablePaths + manifest.access.writablePaths
        let sessions = read.filter(ClosedPlaces.holdsSessions).map(\.description)
        if !sessions.isEmpty { warnings.append(.readsSessions(paths: sessions)) }
        let whole = manifest.access.writablePaths.filter(WritableNames.isWholeDocuments).map(\.description)
        if !whole.isEmpty { warnings.append(.changesAllDocuments(paths: whole)) }
        return warnings + manifest.unknownKeys.map(BundleWarning.unknownKey)
    }

    /// Reads and checks the bundle at a path.
    public init(at path: String) throws(BundleProblem) {
        var reader = BundleReader()
        self = try reader.read(path, known: nil).bundle
    }

    init(path: String, directory: String, manifest: ExtensionManifest, fingerprint: Fingerprint) {
        self.path = path
        self.directory = directory
        self.manifest = manifest
        self.fingerprint = fingerprint
    }
}
