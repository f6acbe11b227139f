// SPDX-License-Identifier: Apache-2.0
import CLibArchive
import FileReading
import Glibc

/// Members of a ZIP package, read with libarchive. The sizes stated in the package are not trusted.
struct PackageReader {
    /// The maximum total number of bytes that are read from a package's members.
    static let maximumSize = 32 << 20
    /// The maximum number of members that are visited.
    static let maximumMembers = 20_000
    private static let piece = 64 << 10

    private(set) var members: [String: [UInt8]] = [:]
    /// The reason why members are missing.
    private(set) var problem: DocumentProblem?
    private var room = maximumSize

    /// Reads the wanted members of a package.
    ///
    /// - Parameters:
    ///   - file: A regular file.
    ///   - isWanted: Called once for each member, with its name.
    init(_ file: OpenedFile, isWanted: (String) -> Bool) {
        guard let archive = archive_read_new() else {
            problem = .tooLarge
            return
        }
        defer { archive_read_free(archive) }
        lseek(file.descriptor.raw, 0, SEEK_SET)
        guard archive_read_support_format_zip_seekable(archive) == ARCHIVE_OK,
            archive_read_open_fd(archive, file.descriptor.raw, Self.piece) == ARCHIVE_OK
        else {
            problem = Self.isCompoundFile(file) ? .encrypted : .damaged
            return
        }
        for _ in 0..<Self.maximumMembers {
            var entry: OpaquePointer?
            let status = archive_read_next_header(archive, &entry)
            if status == ARCHIVE_EOF { return }
            guard status >= ARCHIVE_WARN, let entry else {
                problem = problem ?? .damaged
                return
            }
            guard let path = archive_entry_pathname(entry), let name = String(validatingCString: path) else { continue }
            guard members[name] == nil, isWanted(name) else { continue }
            if archive_entry_is_encrypted(entry) != 0 {
                problem = .encrypted
                continue
            }
            members[name] = read(archive)
            if room == 0 {
                problem = .tooLarge
                return
            }
        }
        problem = .tooLarge
    }

    /// Reads the current member up to the first fault or limit.
    private mutating func read(_ archive: OpaquePointer) -> [UInt8] {
        var bytes: [UInt8] = []
        while room > 0 {
            var status = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: min(Self.piece, room)) { buffer, count in
                status = archive_read_data(archive, buffer.baseAddress, buffer.count)
                count = max(0, status)
            }
            if status < 0 { problem = problem ?? .damaged }
            if chunk.isEmpty { break }
            room -= chunk.count
            bytes += chunk
        }
        return bytes
    }

    /// Returns `true` for the container in which Office stores encrypted documents.
    private static func isCompoundFile(_ file: OpenedFile) -> Bool {
        var head = [UInt8](repeating: 0, count: 8)
        return pread(file.descriptor.raw, &head, 8, 0) == 8
            && head == [0xD0, 0xCF, 0x11, 0xE0, 0xA1, 0xB1, 0x1A, 0xE1]
    }

    /// Returns the name of a member relative to another: `../media/a.png` next to
    /// `ppt/slides/b.xml`.
    static func resolve(_ target: String, beside name: String) -> String {
        var parts = target.hasPrefix("/") ? [] : name.split(separator: "/").dropLast().map { String($0) }
        for part in target.split(separator: "/") {
            switch part {
            case ".": break
            case "..": if !parts.isEmpty { parts.removeLast() }
            default: parts.append(String(part))
            }
        }
        return parts.joined(separator: "/")
    }
}
