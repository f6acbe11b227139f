// SPDX-License-Identifier: Apache-2.0
import CFileBirth
import Foundation
import Glibc

/// A note read from disk: its text and its file-system metadata.
package struct NoteFile: Sendable {
    /// The number of bytes that are read of a file.
    package static let maximumSize: Int64 = 16 << 20

    /// The absolute path, which is the identifier of the item.
    package var path: String
    /// The names of the directories between the configured folder and the file, outermost first.
    package var directories: [String]
    package var kind: NoteKind
    /// The size of the file, in bytes.
    package var size: Int64
    /// The creation date of the file; nil if the file system does not record it.
    package var birth: Date?
    package var modified: Date
    /// The text of the file without a byte order mark; see ``isCut``. Empty if the file is not
    /// text.
    package var text: String
    /// The encoding from which the text was decoded.
    package var reading = TextReading.utf8
    /// `true` if `text` is only the beginning.
    package var isCut = false
    /// The number of bytes of the file that were not read.
    package var missing: Int64 = 0

    /// The last component of the path.
    package var fileName: String {
        String(path[(path.utf8.lastIndex(of: UInt8(ascii: "/")).map(after) ?? path.startIndex)...])
    }

    private func after(_ index: String.Index) -> String.Index { path.utf8.index(after: index) }
}

extension NoteFile {
    /// Reads a file at any path and follows symbolic links; `directories` is empty.
    ///
    /// - Parameter path: An absolute path without zero bytes.
    /// - Returns: nil if the name is not the name of a note.
    package init?(contentsOf path: String, opener: FileOpener = .system) throws(SkipReason) {
        guard let name = path.utf8.split(separator: UInt8(ascii: "/")).last.map({ String(Substring($0)) }),
            let kind = NoteKind(fileName: name), !path.utf8.contains(0)
        else { return nil }
        let opened = try OpenedNote(in: nil, name: path, followingLinks: true, opener: opener)
        self = try opened.read(path: path, directories: [], kind: kind)
    }
}

/// A regular file that is open but not read yet.
struct OpenedNote {
    let descriptor: Descriptor
    let status: stat

    /// Opens without blocking (`O_NONBLOCK`): opening a FIFO would otherwise wait for a writer.
    init(in directory: Descriptor?, name: String, followingLinks: Bool, opener: FileOpener) throws(SkipReason) {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (followingLinks ? 0 : O_NOFOLLOW)
        descriptor = try opener.descriptor(in: directory, name: name, flags: flags)
        status = try descriptor.status()
        let type = FileType(mode: status.st_mode)
        guard type == .regular else { throw .notRegularFile(type) }
    }

    func read(path: String, directories: [String], kind: NoteKind) throws(SkipReason) -> NoteFile {
        let bytes = try readAll()
        let (text, reading) = TextReading.text(of: bytes)
        let missing = max(0, Int64(status.st_size) - Int64(bytes.count))
        var birth: Date?
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        if file_birth_time(descriptor.raw, &seconds, &nanoseconds) == 0 {
            birth = Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
        }
        let modified = Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9
        return NoteFile(
            path: path, directories: directories, kind: kind, size: Int64(status.st_size), birth: birth,
            modified: Date(timeIntervalSince1970: modified), text: text, reading: reading, isCut: missing > 0,
            missing: missing)
    }

    /// Reads to the end of the file, which may have grown since it was opened, but at most `limit`
    /// bytes.
    func readAll(limit: Int = Int(NoteFile.maximumSize)) throws(SkipReason) -> [UInt8] {
        var bytes: [UInt8] = []
        var room = min(Int(status.st_size) + 1, limit)
        while room > 0 {
            bytes.reserveCapacity(bytes.count + room)
            var code: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                let result = Glibc.read(descriptor.raw, buffer.baseAddress, buffer.count)
                if result < 0 { code = errno }
                count = max(result, 0)
            }
            if code == EINTR { continue }
            guard code == 0 else { throw SkipReason(errno: code) }
            if chunk.isEmpty { return bytes }
            if bytes.isEmpty { bytes = chunk } else { bytes += chunk }
            room = min(max(Int(status.st_size) + 1 - bytes.count, 4096), limit - bytes.count)
        }
        return bytes
    }

    /// Returns the text of a file that must be UTF-8.
    static func text(of bytes: [UInt8]) throws(SkipReason) -> String {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let body = bytes.starts(with: mark) ? bytes[mark.count...] : bytes[...]
        do {
            let text = try String(copying: UTF8Span(validating: body.span))
            guard let zero = body.firstIndex(of: 0) else { return text }
            throw SkipReason.notUTF8Text(offset: zero)
        } catch let reason as SkipReason {
            throw reason
        } catch let fault as UTF8.ValidationError {
            throw .notUTF8Text(offset: body.startIndex + fault.byteOffsets.lowerBound)
        } catch {
            throw .notUTF8Text(offset: 0)
        }
    }
}
