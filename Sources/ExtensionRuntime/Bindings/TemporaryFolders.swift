// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Temporary folders, each for one request, in the worker's own `$TMPDIR`.
enum TemporaryFolders {
    /// The maximum depth to which folders are removed. Deeper folders are removed when the worker
    /// exits.
    private static let maximumDepth = 16

    static func make() throws(BindingFailure) -> String {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array((parent + "/request-XXXXXX").utf8CString)
        let path = template.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let path else {
            throw BindingFailure(
                .failed, "a folder in \(parent) could not be made: \(String(cString: strerror(errno)))")
        }
        return path
    }

    /// Removes a folder with its contents. Links are removed, not followed.
    static func remove(_ path: String) { remove(path, at: AT_FDCWD, depth: 0) }

    private static func remove(_ name: String, at folder: Int32, depth: Int) {
        guard unlinkat(folder, name, 0) != 0, depth < maximumDepth else { return }
        let number = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { return }
        guard let stream = fdopendir(number) else {
            close(number)
            return
        }
        // All names are read first, because `readdir` may skip names if the folder changes.
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        for name in names { remove(name, at: dirfd(stream), depth: depth + 1) }
        closedir(stream)
        unlinkat(folder, name, AT_REMOVEDIR)
    }
}
