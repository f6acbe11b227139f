// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The identity of one version of an extension's files and of the host, determined without reading
/// the files.
public struct BundleFingerprint: Hashable, Sendable, Codable {
    /// The stamp of a file, which changes when the file is written or replaced.
    public struct Stamp: Hashable, Sendable, Codable {
        /// The device number and the inode number.
        public var device: UInt64, inode: UInt64
        /// The size, in bytes.
        public var size: Int64
        /// The modification time, in seconds and nanoseconds since 1970.
        public var seconds: Int64, nanoseconds: Int64

        /// Creates the stamp of the file at a path; `nil` if the file does not exist.
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

    /// The stamp of `Info.plist`.
    public var manifest: Stamp?
    /// The stamp of the library.
    public var library: Stamp?
    /// The stamp of the worker program, which changes with the host's version.
    public var worker: Stamp?

    /// Creates a fingerprint from its parts.
    public init(manifest: Stamp?, library: Stamp?, worker: Stamp?) {
        self.manifest = manifest
        self.library = library
        self.worker = worker
    }

    /// Creates the current fingerprint of a bundle and of the host.
    init(_ bundle: ExtensionBundle, workerPath: String) {
        self.init(
            manifest: Stamp(path: bundle.path + "/Info.plist"), library: Stamp(path: bundle.libraryPath ?? bundle.path),
            worker: Stamp(path: workerPath))
    }
}
