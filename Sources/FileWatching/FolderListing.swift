// SPDX-License-Identifier: Apache-2.0
import Glibc
import SystemSupport

/// A listing of the names in an open folder.
///
/// Owns a directory stream of the C library (`DIR`). For use by one thread at a time.
struct FolderListing: ~Copyable {
    private let stream: OpaquePointer

    /// The kind of a name, from `d_type`.
    enum Kind { case folder, other, unknown }

    /// Opens a listing of a folder from its beginning.
    ///
    /// - Throws: ``ErrnoCode``.
    init(of folder: OwnedDescriptor) throws(ErrnoCode) {
        // `closedir` closes the stream's descriptor, and reading moves its offset, so the stream
        // gets its own descriptor.
        let number = openat(folder.number, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw ErrnoCode(errno) }
        guard let stream = fdopendir(number) else {
            let code = errno
            close(number)
            throw ErrnoCode(code)
        }
        self.stream = stream
    }

    deinit { closedir(stream) }

    /// Returns the next name except `.` and `..`; `nil` at the end. A name that is not UTF-8 is
    /// returned as an empty string, because no stored path can contain it.
    ///
    /// - Throws: ``ErrnoCode``.
    mutating func next() throws(ErrnoCode) -> (name: String, kind: Kind)? {
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw ErrnoCode(errno) }
                return nil
            }
            let kind: Kind =
                switch Int(entry.pointee.d_type) {
                case Int(DT_DIR): .folder
                case Int(DT_UNKNOWN): .unknown
                default: .other
                }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) {
                    String(validatingCString: $0) ?? ""
                }
            }
            if name == "." || name == ".." { continue }
            return (name, kind)
        }
    }
}
