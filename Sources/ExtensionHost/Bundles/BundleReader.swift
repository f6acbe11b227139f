// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// Reads and checks bundles. It opens each file once and checks the open file, so that nothing can
/// be replaced between check and use.
///
/// A bundle may be a symbolic link, such as those that stow and nix create. No other user may be
/// able to change the link, its target, or the target's parent directory. The manifest and the
/// library must not be symbolic links. Hard links are not checked: a user who may write to a file
/// may do so through each of its names.
struct BundleReader {
    private var trust = BundleTrust()

    /// The bundle, and its cache entry.
    struct Result {
        var bundle: ExtensionBundle
        var entry: RegistryCache.Entry
    }

    /// Returns the problem of a directory in the search path, if another user may rename entries in
    /// it and so replace bundles.
    mutating func problem(ofSearched directory: String) -> BundleProblem? {
        var status = stat()
        guard stat(directory, &status) == 0, let flaw = trust.flaw(status, at: .target(directory), orSticky: true)
        else { return nil }
        return .writableByOthers(path: directory, detail: flaw)
    }

    /// Reads and checks the bundle at a path.
    ///
    /// - Parameter known: The cache entry of the bundle. Owners and modes are always checked.
    mutating func read(_ path: String, known: RegistryCache.Entry?) throws(BundleProblem) -> Result {
        let (folder, directory) = try open(path)
        let manifestStatus = try status(of: "Info.plist", in: folder, path)
        var (entry, manifest) = try self.manifest(folder, manifestStatus, known)
        entry.libraryStamp = try libraries(of: manifest, folder, path, known) ?? entry.manifestStamp
        entry.isSettled = entry.isOld(at: FileStamp.now)
        let bundle = ExtensionBundle(
            path: path, directory: directory, manifest: manifest,
            fingerprint: .init(manifest: entry.digest, library: entry.libraryStamp))
        return Result(bundle: bundle, entry: entry)
    }

    // MARK: The parts of a bundle

    /// Opens the directory of a bundle, and returns it with its real path.
    private mutating func open(_ path: String) throws(BundleProblem) -> (OwnedDescriptor, String) {
        var link = stat()
        guard lstat(path, &link) == 0 else { throw Self.unreadable(errno) }
        let isLink = link.st_mode & S_IFMT == S_IFLNK
        if isLink, let flaw = trust.flaw(link, at: .path(path)).flatMap({ $0.hasPrefix("belongs") ? $0 : nil }) {
            throw .writableByOthers(path: path, detail: flaw)
        }
        let number = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else {
            let code = errno
            if code == ENOTDIR { throw .notADirectory(found: Self.kind(isLink ? nil : link.st_mode)) }
            if isLink, code == ENOENT { throw .notADirectory(found: "a dangling symbolic link") }
            throw Self.unreadable(code)
        }
        let folder = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw Self.unreadable(errno) }
        if let flaw = trust.flaw(status, at: .descriptor(number)) {
            throw .writableByOthers(path: path, detail: flaw)
        }
        guard isLink else { return (folder, path) }
        // A user who may rename entries in the parent directory may replace the target.
        guard fstatat(number, "..", &status, 0) == 0 else { throw Self.unreadable(errno) }
        let target = Self.path(of: number) ?? path
        if let flaw = trust.flaw(status, at: .target("/proc/self/fd/\(number)/.."), orSticky: true) {
            throw .writableByOthers(path: "\(path): the parent folder of its target \(target)", detail: flaw)
        }
        return (folder, target)
    }

    private static func unreadable(_ code: Int32) -> BundleProblem {
        .manifestUnreadable(reason: String(cString: strerror(code)).lowercased())
    }

    /// Returns the path of an open directory.
    private static func path(of number: Int32) -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/fd/\(number)", &buffer, buffer.count)
        guard count > 0, count < buffer.count else { return nil }
        return String(validating: buffer[..<count].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Returns the status of a file in the bundle, after checking that it is regular and that no
    /// other user may change it.
    private mutating func status(
        of name: String, in folder: OwnedDescriptor, _ path: String
    ) throws(BundleProblem) -> stat {
        var status = stat()
        guard fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
            throw Self.failure(name, reason: String(cString: strerror(errno)).lowercased())
        }
        try check(status, name, in: folder, path)
        return status
    }

    private mutating func check(
        _ status: stat, _ name: String, in folder: OwnedDescriptor, _ path: String
    ) throws(BundleProblem) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .notAFile(name: name, found: Self.kind(status.st_mode))
        }
        if let flaw = trust.flaw(status, at: .path("/proc/self/fd/\(folder.number)/\(name)")) {
            throw .writableByOthers(path: path + "/" + name, detail: flaw)
        }
    }

    private static func failure(_ name: String, reason: String) -> BundleProblem {
        name == "Info.plist" ? .manifestUnreadable(reason: reason) : .libraryUnreadable(name: name, reason: reason)
    }

    /// Returns the manifest, from the cache if the file is unchanged.
    private mutating func manifest(
        _ folder: OwnedDescriptor, _ status: stat, _ known: RegistryCache.Entry?
    ) throws(BundleProblem) -> (RegistryCache.Entry, ExtensionManifest) {
        let stamp = FileStamp(status)
        if let known, known.isSettled, known.manifestStamp == stamp, let manifest = known.readManifest() {
            return (known.with(manifest), manifest)
        }
        guard status.st_size <= ExtensionManifest.maximumBytes else {
            throw .manifestTooLarge(bytes: Int(status.st_size))
        }
        let (bytes, opened) = try contents("Info.plist", folder, limit: ExtensionManifest.maximumBytes + 1)
        let values = try ExtensionManifest.values(bytes)
        let manifest = try ExtensionManifest(values)
        let entry = RegistryCache.Entry(
            manifestStamp: FileStamp(opened), libraryStamp: stamp, digest: Digest.of(bytes), values: values,
            manifest: manifest)
        return (entry, manifest)
    }

    /// Checks the bundle's own library, or the libraries that its bindings call, unless the cache
    /// says that the same files passed. Returns `nil` if the bundle has no libraries.
    private mutating func libraries(
        of manifest: ExtensionManifest, _ folder: OwnedDescriptor, _ path: String, _ known: RegistryCache.Entry?
    ) throws(BundleProblem) -> FileStamp? {
        let names = manifest.libraryName.map { [$0] } ?? manifest.boundLibraries.sorted()
        var stamps: [FileStamp] = []
        for name in names {
            let status = try status(of: name, in: folder, path)
            guard status.st_mode & (S_ISUID | S_ISGID) == 0 else {
                throw .privileged(name: name, mode: BundleTrust.octal(status.st_mode))
            }
            stamps.append(FileStamp(status))
        }
        let stamp = FileStamp(of: stamps)
        if let known, known.isSettled, known.libraryStamp == stamp { return stamp }
        stamps = []
        for name in names {
            let (header, opened) = try contents(name, folder, limit: LibraryHeader.byteCount)
            try check(opened, name, in: folder, path)
            try LibraryHeader.check(header, size: Int64(opened.st_size), name: name)
            stamps.append(FileStamp(opened))
        }
        return FileStamp(of: stamps)
    }

    /// Returns the first bytes of a file in the bundle, and its status.
    private func contents(
        _ name: String, _ folder: OwnedDescriptor, limit: Int
    ) throws(BundleProblem) -> ([UInt8], stat) {
        // With O_NONBLOCK, a named pipe that has replaced the file cannot block the host.
        let number = openat(folder.number, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard number >= 0 else { throw Self.failure(name, reason: String(cString: strerror(errno)).lowercased()) }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .notAFile(name: name, found: Self.kind(status.st_mode))
        }
        do throws(ErrnoCode) {
            let size = min(limit, max(0, Int(status.st_size)))
            return (try WholeTransfer.bytes(of: file.number, upTo: size, at: 0), status)
        } catch {
            throw Self.failure(name, reason: String(cString: strerror(error.code)).lowercased())
        }
    }

    /// Returns a phrase for the file type, to follow “is”. `nil` stands for a link's target.
    private static func kind(_ mode: mode_t?) -> String {
        guard let mode else { return "a symbolic link to something other than a folder" }
        return switch mode & S_IFMT {
        case S_IFREG: "a file"
        case S_IFDIR: "a folder"
        case S_IFLNK: "a symbolic link"
        case S_IFIFO: "a named pipe"
        case S_IFSOCK: "a socket"
        default: "a device"
        }
    }
}
