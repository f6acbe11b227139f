// SPDX-License-Identifier: Apache-2.0
import CFileBirth
import Foundation
import Glibc

/// A file in a configured folder, as an extension reads it.
package protocol ServedFile: Sendable {
    /// The kind of a file, determined only by its name.
    associatedtype Kind: Sendable

    /// The absolute path, which is the item's identifier.
    var path: String { get }

    /// Returns nil if the extension does not serve files with this name.
    static func kind(fileName: String) -> Kind?

    /// - Parameters:
    ///   - path: The absolute path.
    ///   - directories: The names of the directories between the configured folder and the file.
    init(_ file: OpenedFile, kind: Kind, path: String, directories: [String]) throws(SkipReason)
}

/// A regular file that is open but not read yet.
package struct OpenedFile: Sendable {
    /// The maximum number of bytes that are read from a file.
    package static let maximumSize: Int64 = 16 << 20

    package let descriptor: Descriptor
    let status: stat

    /// Opens without blocking (`O_NONBLOCK`), because opening a FIFO would otherwise wait for a
    /// writer.
    package init(
        in directory: Descriptor?, name: String, followingLinks: Bool, opener: FileOpener
    ) throws(SkipReason) {
        let flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | (followingLinks ? 0 : O_NOFOLLOW)
        descriptor = try opener.descriptor(in: directory, name: name, flags: flags)
        status = try descriptor.status()
        let type = FileType(mode: status.st_mode)
        guard type == .regular else { throw .notRegularFile(type) }
    }

    /// The size, in bytes.
    package var size: Int64 { Int64(status.st_size) }

    package var modified: Date {
        Date(timeIntervalSince1970: Double(status.st_mtim.tv_sec) + Double(status.st_mtim.tv_nsec) / 1e9)
    }

    /// The creation date; nil if the file system does not record it.
    package var birth: Date? {
        var seconds: Int64 = 0
        var nanoseconds: UInt32 = 0
        guard file_birth_time(descriptor.raw, &seconds, &nanoseconds) == 0 else { return nil }
        return Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9)
    }

    /// Reads the file from beginning to end, at most `limit` bytes. The file may have grown since
    /// it was opened.
    package func readAll(limit: Int = Int(Self.maximumSize)) throws(SkipReason) -> [UInt8] {
        var bytes: [UInt8] = []
        var room = min(Int(status.st_size) + 1, limit)
        while room > 0 {
            bytes.reserveCapacity(bytes.count + room)
            var code: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                // Every read starts at the beginning of the file, and libraries move the file
                // offset.
                let result = pread(descriptor.raw, buffer.baseAddress, buffer.count, off_t(bytes.count))
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

    /// Returns a number that changes with the path, size or modification date.
    package func fingerprint(path: String) -> UInt64 {
        FNV1a.hash("\(path)\0\(size)\0\(modified.timeIntervalSince1970)".utf8)
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
