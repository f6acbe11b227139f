// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization
import SystemSupport

/// A file that leads a browser to the page and passes on the code. Only this user can read the
/// file; its path is not secret.
///
/// The file contains a form that submits itself (`POST`), so the code appears in no process
/// argument, no URL and no `Referer`. The file is in a folder that no extension can access
/// (``WorkerConfiguration/ownFolders(environment:)``).
package final class HandOverFile: Sendable {
    /// The reason why no file was created.
    package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
        /// The attempted operation and how it failed.
        package var description: String
    }

    /// The absolute path.
    package let path: String
    private let folder: OwnedDescriptor
    private let name: String
    private let isThere = Atomic(true)

    /// The subfolder for these files, in Searchlight's own folder.
    private static let folderName = "quicklook"
    private static let ending = ".html"
    /// The age, in seconds, at which the file of a killed process is removed. Its code expired long
    /// before.
    private static let staleAge = 600
    /// The maximum number of names that are checked for old files.
    private static let maximumNames = 1000

    /// Creates a file in the first suitable folder.
    ///
    /// - Parameters:
    ///   - folders: Searchlight's own folders as absolute paths, in order of preference.
    ///   - address: The URL of the page.
    ///   - code: The code.
    /// - Throws: The ``Problem`` for the last folder.
    package convenience init(in folders: [String], address: String, code: String) throws(Problem) {
        var problem = Problem(description: "There is no folder for the file. Set XDG_RUNTIME_DIR or HOME.")
        for folder in folders {
            do throws(Problem) {
                let (descriptor, path) = try Self.privateFolder(in: folder, mayBeNew: folder == folders.last)
                try self.init(descriptor, path, text: Self.text(address: address, code: code))
                return
            } catch {
                problem = error
            }
        }
        throw problem
    }

    private init(_ folder: OwnedDescriptor, _ folderPath: String, text: String) throws(Problem) {
        Self.removeStale(folder)
        let name = "open-" + String(UInt64.random(in: .min ... .max), radix: 36) + Self.ending
        path = folderPath + "/" + name
        (self.folder, self.name) = (folder, name)
        let number = openat(folder.number, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { throw Self.problem("creating \(path)", errno) }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard fchmod(file.number, 0o600) == 0, fstat(file.number, &status) == 0, status.st_uid == geteuid() else {
            let problem = Self.problem("protecting \(path)", errno)
            remove()
            throw problem
        }
        let bytes = Array(text.utf8)
        guard write(file.number, bytes, bytes.count) == bytes.count else {
            let problem = Self.problem("writing \(path)", errno)
            remove()
            throw problem
        }
    }

    deinit { remove() }

    /// Removes the file after it was used or has expired. May be called from any thread, and more
    /// than once.
    package func remove() {
        if isThere.exchange(false, ordering: .relaxed) { unlinkat(folder.number, name, 0) }
    }

    package var address: String { URL(filePath: path).absoluteString }

    // MARK: The folder

    /// Opens the folder for these files, and creates it if necessary.
    ///
    /// - Parameter mayBeNew: `true` to also create the parent of Searchlight's own folder.
    private static func privateFolder(in own: String, mayBeNew: Bool) throws(Problem) -> (OwnedDescriptor, String) {
        let parent = URL(filePath: own).deletingLastPathComponent().path
        var folder: OwnedDescriptor
        // The browser opens the file by its path, so no other user may be able to replace a folder
        // in the path.
        do throws(UntrustedFile) {
            guard let found = try OwnFolder.open(parent, creating: mayBeNew) else {
                throw UntrustedFile(path: parent, problem: .system(operation: "Opening", code: ENOENT))
            }
            folder = found
        } catch {
            throw Problem(description: error.description)
        }
        try check(folder, parent)
        var path = parent
        for (name, isPrivate) in [(URL(filePath: own).lastPathComponent, false), (folderName, true)] {
            path += "/" + name
            if mkdirat(folder.number, name, 0o700) != 0, errno != EEXIST { throw problem("creating \(path)", errno) }
            folder = try opened(folder.number, name, path, isPrivate: isPrivate)
        }
        return (folder, path)
    }

    /// Opens a folder that belongs to this user and that no other user can write to. A private
    /// folder also gets mode 0700.
    private static func opened(
        _ above: Int32, _ name: String, _ path: String, isPrivate: Bool
    ) throws(Problem) -> OwnedDescriptor {
        let number = openat(above, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
        guard number >= 0 else { throw problem("opening \(path)", errno) }
        let folder = OwnedDescriptor(adopting: number)
        try check(folder, path, isPrivate: isPrivate)
        return folder
    }

    /// Checks that a folder belongs to this user and that no other user can write to it. A private
    /// folder gets mode 0700.
    private static func check(
        _ folder: OwnedDescriptor, _ path: String, isPrivate: Bool = false
    ) throws(Problem) {
        var status = stat()
        guard fstat(folder.number, &status) == 0 else { throw problem("checking \(path)", errno) }
        guard status.st_uid == geteuid() else {
            throw Problem(description: "\(path) belongs to another user.")
        }
        if isPrivate {
            guard fchmod(folder.number, 0o700) == 0 else { throw problem("protecting \(path)", errno) }
        } else if status.st_mode & 0o022 != 0 {
            throw Problem(description: "Other users can write to \(path).")
        }
    }

    private static func problem(_ operation: String, _ code: Int32) -> Problem {
        let what = operation.prefix(1).uppercased() + operation.dropFirst()
        return Problem(description: "\(what) failed: \(String(cString: strerror(code))).")
    }

    private static func removeStale(_ folder: OwnedDescriptor) {
        let copy = fcntl(folder.number, F_DUPFD_CLOEXEC, 3)
        guard copy >= 0 else { return }
        guard let list = fdopendir(copy) else {
            close(copy)
            return
        }
        defer { closedir(list) }
        for _ in 0..<maximumNames {
            guard let entry = readdir(list) else { return }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            var status = stat()
            guard name.hasSuffix(ending), fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mtim.tv_sec < time(nil) - staleAge
            else { continue }
            unlinkat(folder.number, name, 0)
        }
    }

    // MARK: The page

    /// Returns the text of the file. No escaping is necessary: the URL consists of digits and
    /// punctuation, the code of letters and digits.
    private static func text(address: String, code: String) -> String {
        """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="referrer" content="no-referrer">
        <meta name="color-scheme" content="light dark">
        <title>Quick Look</title>
        <form method="post" action="\(address)"><input type="hidden" name="code" value="\(code)">
        <p>Quick Look opens here. <button>Open it now</button></p></form>
        <script>document.forms[0].submit();</script>
        </html>

        """
    }
}
