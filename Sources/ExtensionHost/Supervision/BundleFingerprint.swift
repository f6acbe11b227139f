// SPDX-License-Identifier: Apache-2.0
import Glibc

/// What tells one state of an extension's files and of the host from another, without reading them.
public struct BundleFingerprint: Hashable, Sendable, Codable {
    /// The stamp of a file: what changes when it is written or replaced.
    public struct Stamp: Hashable, Sendable, Codable {
        /// Its device and its number there.
        public var device: UInt64, inode: UInt64
        /// In bytes.
        public var size: Int64
        /// When it was last written, in seconds and nanoseconds since 1970.
        public var seconds: Int64, nanoseconds: Int64

        /// The stamp of the file at a path; `nil` if it is not there.
        public init?(path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
            size = Int64(status.st_size)
            seconds = Int64(status.st_mtim.tv_sec)
            nanoseconds = Int64(status.st_mtim.tv_nsec)
        }
    }

    /// `Info.plist`.
    public var manifest: Stamp?
    /// The library.
    public var library: Stamp?
    /// The program of the workers, which changes with the host's version.
    public var worker: Stamp?

    /// Creates a fingerprint from its parts.
    public init(manifest: Stamp?, library: Stamp?, worker: Stamp?) {
        self.manifest = manifest
        self.library = library
        self.worker = worker
    }

    /// What is there now of a bundle and of the host.
    init(_ bundle: ExtensionBundle, workerPath: String) {
        self.init(
            manifest: Stamp(path: bundle.path + "/Info.plist"), library: Stamp(path: bundle.libraryPath ?? bundle.path),
            worker: Stamp(path: workerPath))
    }
}
