// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceMessages
import SymbolBindings

/// The folder whose files a binding donates (`serve files`).
struct BoundFolder: Hashable, Sendable {
    /// The name used in the binding.
    let name: String
    /// The absolute path, without a trailing slash.
    let path: String

    /// Expands the name.
    ///
    /// - Throws: ``BindingFailure`` if the name starts with a variable that is not set, or if it is
    ///   not absolute.
    init(_ name: String) throws(BindingFailure) {
        guard let path = FileURL.expanded(name) else {
            throw BindingFailure(
                .invalidArgument, "\(name) is not an absolute path and does not begin with ~ or $XDG_…_HOME")
        }
        self.name = name
        self.path = path.split(separator: "/", omittingEmptySubsequences: true).reduce("") { $0 + "/" + $1 }
    }

    /// Checks that the folder can be listed. Otherwise a folder on an unmounted disk would look
    /// empty.
    func check() throws(BindingFailure) {
        guard let stream = opendir(path) else {
            throw BindingFailure(
                .unavailable, "\(name) is missing or not readable; its items stay in the index")
        }
        closedir(stream)
    }

    /// Returns `true` if a regular file exists at a path that a walk of the folder reaches: below
    /// the folder, and not through a symbolic link.
    ///
    /// - Throws: ``BindingFailure`` if the file system fails.
    func reaches(_ file: String) throws(BindingFailure) -> Bool {
        let prefix = path.utf8.count + 1
        guard file.utf8.count < Int(PATH_MAX), file.utf8.starts(with: (path + "/").utf8), !file.utf8.contains(0) else {
            return false
        }
        let names = file.utf8.dropFirst(prefix).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard !names.contains(where: { $0.isEmpty || $0.elementsEqual(".".utf8) || $0.elementsEqual("..".utf8) }) else {
            return false
        }
        var end = file.utf8.index(file.utf8.startIndex, offsetBy: prefix - 1)
        for (position, name) in names.enumerated() {
            end = file.utf8.index(end, offsetBy: name.count + 1)
            guard let mode = try Self.mode(of: String(file[..<end])) else { return false }
            guard mode == (position == names.count - 1 ? S_IFREG : S_IFDIR) else { return false }
        }
        return true
    }

    /// Returns the file type without following a link; `nil` if there is no readable file.
    private static func mode(of path: String) throws(BindingFailure) -> mode_t? {
        var status = stat()
        if lstat(path, &status) == 0 { return status.st_mode & S_IFMT }
        let code = errno
        guard [ENOENT, ENOTDIR, EACCES, ELOOP, ENAMETOOLONG].contains(code) else {
            throw BindingFailure(.unavailable, "\(path) cannot be checked: \(String(cString: strerror(code)))")
        }
        return nil
    }
}

extension PreparedBinding {
    /// The folder whose files the binding donates, as written in the binding; `nil` if the binding
    /// has another purpose.
    var folder: String? { if case .files(let folder) = binding.purpose { folder } else { nil } }
}
