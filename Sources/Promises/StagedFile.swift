// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceProtocol
import Synchronization

/// A file being written beside the place where it will appear: put there when it is whole, gone otherwise.
///
/// Where the file system can, it has no name until then, so that nothing is left however the process ends.
struct StagedFile: ~Copyable {
    private let destination: String
    private let replaces: Bool
    private let stagingPath: String
    private let descriptor: OwnedDescriptor
    /// Whether something has the staging path that goes if this does.
    private var isNamed: Bool

    /// Creates the staging file.
    ///
    /// - Parameters:
    ///   - destination: Where the file will appear; without a link at the end.
    ///   - existing: The file that is there, which is replaced and whose owner and mode are kept.
    ///   - token: Distinguishes staging files of deliveries at the same time.
    ///   - isAnonymous: Whether to try without a name.
    static func create(
        for destination: String, existing: stat?, token: UInt64, isAnonymous: Bool = true
    ) throws(PromiseError) -> StagedFile {
        let folder = FileTarget.folder(of: destination)
        let name = destination.lastIndex(of: "/").map { String(destination[destination.index(after: $0)...]) }
        let path = folder + "." + beginning(of: name ?? destination) + "." + String(token, radix: 36) + ".part"
        // A file that others may not read is not shown to them while it is made.
        let mode: mode_t = existing == nil ? 0o666 : 0o600
        var number: Int32 = isAnonymous ? open(folder, O_WRONLY | anonymous | O_CLOEXEC, mode) : -1
        let isNamed = number < 0
        if isNamed {
            // Known before it is there, so that no signal comes between.
            UnfinishedFiles.add(path)
            number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            if number < 0 {
                let code = errno
                UnfinishedFiles.forget(path)
                throw .inputOutput(operation: "Creating a file in", path: folder, code: code)
            }
        }
        if let existing {
            // Only root can give files away; everybody else goes on as the owner.
            if existing.st_uid != geteuid() || existing.st_gid != getegid() {
                _ = fchown(number, existing.st_uid, existing.st_gid)
            }
            fchmod(number, existing.st_mode & 0o777)
        }
        return StagedFile(
            destination: destination, replaces: existing != nil, stagingPath: path,
            descriptor: OwnedDescriptor(adopting: number), isNamed: isNamed)
    }

    /// `O_TMPFILE`, which Swift does not see.
    private static let anonymous: Int32 = 0o20_000_000 | O_DIRECTORY

    /// The longest part of the destination's name that the staging file carries. File systems limit names to 255 bytes.
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

    /// Where to write.
    var number: Int32 { descriptor.number }

    /// Checks that a length has room, so that nothing is begun that cannot end.
    func checkRoom(for length: UInt64) throws(PromiseError) {
        var status = statvfs()
        // A file system that counts no blocks tells nothing.
        guard fstatvfs(descriptor.number, &status) == 0, status.f_blocks > 0 else { return }
        let blocks = UInt64(geteuid() == 0 ? status.f_bfree : status.f_bavail)
        let (available, overflows) = blocks.multipliedReportingOverflow(by: UInt64(status.f_frsize))
        guard overflows || length <= available else {
            throw .noRoom(path: destination, length: length, available: available)
        }
    }

    /// Makes the file appear at its destination, whole.
    consuming func commit() throws(PromiseError) {
        guard fsync(descriptor.number) == 0 else {
            throw .inputOutput(operation: "Saving", path: destination, code: errno)
        }
        if !isNamed {
            if !replaces, link(to: destination) == 0 { return }
            // The name is taken; only a rename replaces.
            UnfinishedFiles.add(stagingPath)
            guard link(to: stagingPath) == 0 else {
                let code = errno
                UnfinishedFiles.forget(stagingPath)
                throw .inputOutput(operation: "Creating a file beside", path: destination, code: code)
            }
            isNamed = true
        }
        guard rename(stagingPath, destination) == 0 else {
            throw .inputOutput(operation: "Renaming to", path: destination, code: errno)
        }
        UnfinishedFiles.forget(stagingPath)
        isNamed = false
    }

    private func link(to path: String) -> Int32 {
        linkat(AT_FDCWD, "/proc/self/fd/\(descriptor.number)", AT_FDCWD, path, AT_SYMLINK_FOLLOW)
    }
}

/// The staging files of this process that have names.
enum UnfinishedFiles {
    private static let paths = Mutex<Set<String>>([])

    static func add(_ path: String) { paths.withLock { _ = $0.insert(path) } }
    static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    /// Removes them, all or those below a folder.
    static func removeAll(below folder: String = "") {
        paths.withLock { paths in
            let going = paths.filter { $0.hasPrefix(folder) }
            for path in going { unlink(path) }
            paths.subtract(going)
        }
    }
}
