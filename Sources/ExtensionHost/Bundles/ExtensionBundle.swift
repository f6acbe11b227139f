// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// An extension bundle that was found, read and accepted. Nothing of it has been loaded.
public struct ExtensionBundle: Hashable, Sendable {
    /// The `.searchext` directory, absolute.
    public var path: String
    /// What its manifest says.
    public var manifest: ExtensionManifest

    /// The bundle identifier.
    public var identifier: String { manifest.identifier }
    /// The library, absolute.
    public var libraryPath: String { path + "/" + manifest.libraryName }

    /// How a bundle directory's name ends.
    public static let suffix = ".searchext"

    /// Reads and checks the bundle at a path.
    ///
    /// - Throws: ``BundleProblem``.
    public init(at path: String) throws(BundleProblem) {
        self.path = path
        try Self.checkOwner(of: path)
        let manifestPath = path + "/Info.plist"
        try Self.checkOwner(of: manifestPath)
        let limit = ExtensionManifest.maximumBytes + 1
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try Self.read(manifestPath, limit: limit)
        } catch {
            throw .manifestUnreadable(reason: error.reason)
        }
        manifest = try ExtensionManifest(propertyList: Data(bytes))
        let libraryPath = path + "/" + manifest.libraryName
        let header: [UInt8]
        do throws(FileFailure) {
            header = try Self.read(libraryPath, limit: LibraryHeader.byteCount)
        } catch {
            throw .libraryUnreadable(name: manifest.libraryName, reason: error.reason)
        }
        try LibraryHeader.check(header, name: manifest.libraryName)
        try Self.checkOwner(of: libraryPath)
    }

    private struct FileFailure: Error {
        let reason: String
        init(code: Int32) { reason = String(cString: strerror(code)) }
        init(reason: String) { self.reason = reason }
    }

    /// The first bytes of a regular file.
    private static func read(_ path: String, limit: Int) throws(FileFailure) -> [UInt8] {
        // O_NONBLOCK, so that a named pipe in the way cannot hang the host.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileFailure(code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw FileFailure(reason: "it is not a regular file")
        }
        var bytes = [UInt8](repeating: 0, count: min(limit, max(0, Int(status.st_size))))
        var filled = 0
        while filled < bytes.count {
            let count = bytes[filled...].withUnsafeMutableBytes {
                pread(descriptor, $0.baseAddress, $0.count, off_t(filled))
            }
            guard count >= 0 else { throw FileFailure(code: errno) }
            if count == 0 { break }
            filled += count
        }
        return Array(bytes[..<filled])
    }

    /// Refuses what somebody other than root and this user can change.
    private static func checkOwner(of path: String) throws(BundleProblem) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw .manifestUnreadable(reason: "\(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw .writableByOthers(path: path, detail: "belongs to user \(status.st_uid)")
        }
        let byGroup = status.st_mode & S_IWGRP != 0 && status.st_gid != 0 && !isPrivateGroup(status.st_gid)
        guard !byGroup, status.st_mode & S_IWOTH == 0 else {
            throw .writableByOthers(path: path, detail: "is writable by others (mode \(octal(status.st_mode)))")
        }
    }

    /// Whether a group is the one of its own that each user has on many systems, so that files made with umask 002 are
    /// writable by it: it is this process's, bears the user's name and has no other members.
    private static func isPrivateGroup(_ group: gid_t) -> Bool {
        guard group == getegid() else { return false }
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        var user = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(geteuid(), &user, &buffer, buffer.count, &found) == 0, found != nil else { return false }
        let name = String(cString: user.pw_name)
        var entry = Glibc.group()
        var foundGroup: UnsafeMutablePointer<Glibc.group>?
        guard getgrgid_r(group, &entry, &buffer, buffer.count, &foundGroup) == 0, foundGroup != nil else {
            return false
        }
        guard String(cString: entry.gr_name) == name else { return false }
        var member = entry.gr_mem
        while let current = member?.pointee {
            if String(cString: current) != name { return false }
            member = member?.advanced(by: 1)
        }
        return true
    }

    private static func octal(_ mode: mode_t) -> String { String(mode & 0o7777, radix: 8) }
}
