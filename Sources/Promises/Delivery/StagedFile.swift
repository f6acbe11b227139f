// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization
import SystemSupport

/// A file that is written next to its destination. It is moved there when it is complete, and
/// removed otherwise.
///
/// If the file system supports it, the file has no name until then (O_TMPFILE), so nothing is left
/// behind, however the process exits.
struct StagedFile: ~Copyable {
    private let destination: String
    private let replaces: Bool
    private let stagingPath: String
    private let descriptor: OwnedDescriptor
    /// `true` if the staging path exists, so that it must be removed with this value.
    private var isNamed: Bool

    /// Creates the staging file.
    ///
    /// - Parameters:
    ///   - destination: The path at which the file will appear; it must not end with a link.
    ///   - existing: The existing file, which is replaced. Its owner and mode are preserved.
    ///   - token: A number that distinguishes the staging files of concurrent deliveries.
    ///   - isAnonymous: `true` to try an unnamed file first.
    ///   - isProgram: `true` if a new file is executable.
    static func create(
        for destination: String, existing: stat?, token: UInt64, isAnonymous: Bool = true, isProgram: Bool = false
    ) throws(PromiseError) -> StagedFile {
        let folder = FileTarget.folder(of: destination)
        let path = stagingPath(for: destination, token: token)
        // A private file must not be readable by others while it is written.
        let mode: mode_t = existing == nil ? (isProgram ? 0o777 : 0o666) : 0o600
        var number: Int32 = isAnonymous ? open(folder, O_WRONLY | anonymous | O_CLOEXEC, mode) : -1
        let isNamed = number < 0
        if isNamed {
            // Registered before it exists, so that a signal in between cannot leave it.
            UnfinishedFiles.add(path)
            number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            if number < 0 {
                let code = errno
                UnfinishedFiles.forget(path)
                throw .inputOutput(operation: "Creating a file in", path: folder, code: code)
            }
        }
        if let existing {
            // Only root can change the owner. Without root privileges, the new file belongs to the
            // process's owner.
            if existing.st_uid != geteuid() || existing.st_gid != getegid() {
                _ = fchown(number, existing.st_uid, existing.st_gid)
            }
            fchmod(number, existing.st_mode & 0o777)
        }
        return StagedFile(
            destination: destination, replaces: existing != nil, stagingPath: path,
            descriptor: OwnedDescriptor(adopting: number), isNamed: isNamed)
    }

    /// Returns the path at which a file or folder for a destination is staged.
    static func stagingPath(for destination: String, token: UInt64) -> String {
        let name = destination.lastIndex(of: "/").map { String(destination[destination.index(after: $0)...]) }
        return FileTarget.folder(of: destination) + "." + beginning(of: name ?? destination) + "."
            + String(token, radix: 36) + ".part"
    }

    /// `O_TMPFILE`, which Swift does not import.
    static let anonymous: Int32 = 0o20_000_000 | O_DIRECTORY

    /// The maximum length of the destination's name in the staging path, in bytes. File systems
    /// limit names to 255 bytes.
    private static let maximumNameBytes = 120

    private static func beginning(of name: String) -> String {
        guard name.utf8.count > maximumNameBytes else { return name }
        var beginning = String.UnicodeScalarView()
        var count = 0
        for scalar in name.unicodeScalars {
            count += UTF8.width(scalar)
            guard count <= maximumNameBytes else { break }
            beginning.append(scalar)
        }
        return String(beginning)
    }

    private init(
        destination: String, replaces: Bool, stagingPath: String, descriptor: OwnedDescriptor, isNamed: Bool
    ) {
        self.destination = destination
        self.replaces = replaces
        self.stagingPath = stagingPath
        self.descriptor = descriptor
        self.isNamed = isNamed
    }

    deinit {
        if isNamed {
            unlink(stagingPath)
            UnfinishedFiles.forget(stagingPath)
        }
    }

    /// The descriptor to write to.
    var number: Int32 { descriptor.number }

    /// Checks that a descriptor's device has room for a length, before a copy starts.
    static func checkRoom(for length: UInt64, on number: Int32, path: String) throws(PromiseError) {
        var status = statvfs()
        // A file system without block counts reports no free space.
        guard fstatvfs(number, &status) == 0, status.f_blocks > 0 else { return }
        let blocks = UInt64(geteuid() == 0 ? status.f_bfree : status.f_bavail)
        let (available, overflows) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard overflows || length <= available else {
            throw .noRoom(path: path, length: length, available: available)
        }
    }

    /// Makes the complete file appear at its destination.
    ///
    /// A file that replaces another one is synced to disk first (fsync), so that a system crash
    /// cannot lose both. The writing of a new file is left to the kernel, as with `cp` and file
    /// managers.
    consuming func commit() throws(PromiseError) {
        if replaces, fsync(descriptor.number) != 0 {
            throw .inputOutput(operation: "Saving", path: destination, code: errno)
        }
        if !isNamed {
            if !replaces, link(to: destination) == 0 { return }
            // The name is taken, and only a rename can replace it.
            try takeName()
        }
        guard rename(stagingPath, destination) == 0 else {
            throw .inputOutput(operation: "Renaming to", path: destination, code: errno)
        }
        UnfinishedFiles.forget(stagingPath)
        isNamed = false
    }

    /// Makes the file appear in its folder under a free name.
    ///
    /// - Returns: The file's path.
    consuming func commit(as name: FileName) throws(PromiseError) -> String {
        for path in FreeName.paths(name, in: FileTarget.folder(of: destination)) {
            var code: Int32 = 0
            if !isNamed, link(to: path) != 0 {
                code = errno
                // If the file system cannot link unnamed files, the file is named and renamed.
                if code != EEXIST { try takeName() }
            }
            if isNamed { code = FreeName.rename(stagingPath, to: path, isFolder: false) }
            switch code {
            case 0:
                if isNamed { UnfinishedFiles.forget(stagingPath) }
                isNamed = false
                return path
            case EEXIST: continue
            default: throw .inputOutput(operation: "Renaming to", path: path, code: code)
            }
        }
        throw FreeName.exhausted(name, in: FileTarget.folder(of: destination))
    }

    /// Links the file to the staging path.
    private mutating func takeName() throws(PromiseError) {
        UnfinishedFiles.add(stagingPath)
        guard link(to: stagingPath) == 0 else {
            let code = errno
            UnfinishedFiles.forget(stagingPath)
            throw .inputOutput(operation: "Creating a file beside", path: destination, code: code)
        }
        isNamed = true
    }

    private func link(to path: String) -> Int32 {
        linkat(AT_FDCWD, "/proc/self/fd/\(descriptor.number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
    }
}
