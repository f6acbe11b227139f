// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// An extension bundle that was found, read and accepted. Nothing in it has been loaded.
public struct ExtensionBundle: Hashable, Sendable {
    /// The absolute path of the `.searchext` directory as it was found, which may be a symbolic
    /// link.
    public var path: String
    /// The absolute path of the directory itself: ``path``, or the link's target when it was read.
    public var directory: String
    /// The contents of the manifest.
    public var manifest: ExtensionManifest
    /// The identity of this version of the bundle.
    public var fingerprint: Fingerprint

    /// The bundle identifier.
    public var identifier: String { manifest.identifier }
    /// The absolute path of the library; `nil` for an extension without its own code.
    public var libraryPath: String? { manifest.libraryName.map { directory + "/" + $0 } }

    /// The suffix of a bundle directory's name.
    public static let suffix = ".searchext"

    /// The identity of one version of a bundle: its manifest's content and its library file. A
    /// replaced bundle has a different fingerprint, even if the new files are equal.
    public struct Fingerprint: Hashable, Sendable, Codable {
        /// A digest of the manifest.
        public var manifest: UInt64
        /// The library's device, inode, size and modification time.
        public var library: [Int64]

        init(manifest: UInt64, library: FileStamp) {
            self.manifest = manifest
            // The time of the last status change is left out: a mode change does not affect a
            // loaded library.
            self.library = [
                Int64(truncatingIfNeeded: library.device), Int64(truncatingIfNeeded: library.inode), library.size,
                library.modified,
            ]
        }
    }

    /// The bundle's oddities that do not prevent its use.
    public var warnings: [BundleWarning] {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        var warnings: [BundleWarning] = []
        if name != identifier + Self.suffix {
            warnings.append(.nameMismatch(directory: name, identifier: identifier))
        }
        let read = manifest.access.readablePaths + manifest.access.writablePaths
        let sessions = read.filter(DenyList.holdsSessions).map(\.description)
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
