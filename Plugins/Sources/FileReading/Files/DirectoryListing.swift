// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A visible entry in a directory.
struct DirectoryEntry {
    /// The name. Bytes that are not UTF-8 are replaced; `nameIsExact` is then false, and the name
    /// cannot be used to open the entry.
    var name: String
    var nameIsExact: Bool
    var type: FileType

    init(name bytes: UnsafePointer<CChar>, type: FileType) {
        let exact = String(validatingCString: bytes)
        name = exact ?? String(cString: bytes)
        nameIsExact = exact != nil
        self.type = type
    }
}

/// The visible entries in a directory, sorted by the bytes of their names. Hidden entries are left
/// out.
struct DirectoryListing {
    var entries: [DirectoryEntry] = []
    /// The number of entries that were read, including hidden ones.
    var entriesMet = 0
    /// `false` if the limit was reached before the end.
    var isComplete = true

    /// - Parameters:
    ///   - limit: The number of entries after which the listing ends.
    ///   - visit: Called for each entry.
    init(of directory: Descriptor, limit: Int, visit: () -> Void) throws(SkipReason) {
        // A duplicate, since fdopendir(3) takes ownership of its descriptor and closes it.
        let copy = fcntl(directory.raw, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw SkipReason(errno: errno) }
        guard let stream = fdopendir(copy) else {
            let code = errno
            close(copy)
            throw SkipReason(errno: code)
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SkipReason(errno: errno) }
                break
            }
            let name = Self.name(of: entry)
            if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { continue }
            guard entriesMet < limit else {
                isComplete = false
                break
            }
            entriesMet += 1
            visit()
            if name.pointee == CChar(bitPattern: UInt8(ascii: ".")) { continue }
            entries.append(DirectoryEntry(name: name, type: FileType(entryType: entry.pointee.d_type)))
        }
        entries.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Returns the name through a pointer instead of a copy of the struct, because the record may
    /// be shorter than the type.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> UnsafePointer<CChar> {
        let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
        return UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
    }
}
