// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// The system's file system.
package struct SystemLogFiles: LogFiles {
    /// Creates an instance.
    package init() {}

    package func createFolder(_ path: String) throws(LogFileError) {
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw LogFileError(operation: "creating the folder", path: path, code: errno)
        }
        // Synchronizes even an existing folder, because its creator may have been killed before it
        // could do so.
        try synchronizeFolder(path + "/..")
    }

    package func names(in folder: String) throws(LogFileError) -> [String] {
        guard let directory = opendir(folder) else {
            throw LogFileError(operation: "listing", path: folder, code: errno)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = readdir(directory) else {
                guard errno == 0 else { throw LogFileError(operation: "listing", path: folder, code: errno) }
                return names
            }
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
    }

    package func open(_ path: String, for mode: LogFileMode) throws(LogFileError) -> any LogFile {
        let flags =
            switch mode {
            case .read: O_RDONLY
            case .update: O_RDWR
            case .create: O_RDWR | O_CREAT
            }
        let descriptor: OwnedDescriptor
        do throws(UntrustedFile) {
            descriptor = try OwnFile.open(path, flags)
        } catch {
            // A path that is not a regular file is reported as EINVAL: it must not be read or
            // written.
            let code = if case .system(_, let code) = error.problem { code } else { EINVAL }
            throw LogFileError(operation: "opening", path: path, code: code)
        }
        let file = SystemLogFile(adopting: descriptor, path: path)
        // Truncates only now that the checks above have shown that the file belongs to this user.
        if mode == .create { try file.truncate(to: 0) }
        return file
    }

    package func rename(_ path: String, to other: String) throws(LogFileError) {
        guard Glibc.rename(path, other) == 0 else {
            throw LogFileError(operation: "renaming", path: path, code: errno)
        }
    }

    package func remove(_ path: String) throws(LogFileError) {
        guard unlink(path) == 0 else { throw LogFileError(operation: "removing", path: path, code: errno) }
    }

    package func synchronizeFolder(_ path: String) throws(LogFileError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw LogFileError(operation: "opening", path: path, code: errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else {
            throw LogFileError(operation: "fsync", path: path, code: errno)
        }
    }
}
