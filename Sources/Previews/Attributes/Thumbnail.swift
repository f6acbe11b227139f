// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import ItemRecord

/// A small picture of an item: what its attributes refer to, read when it is shown and never kept.
public struct Thumbnail: Hashable, Sendable {
    /// Its format and size, by its own bytes.
    public var header: ImageHeader
    /// The picture as it was encoded.
    public var bytes: [UInt8]

    /// The most bytes of one.
    public static let maximumBytes = 8 << 20

    /// Where an item's thumbnail is.
    public enum Reference: Hashable, Sendable {
        /// In the item.
        case data([UInt8])
        /// In a file of this machine, by its absolute path.
        case file(path: String)
    }

    /// Why there is none to show.
    public enum Problem: Error, Hashable, CustomStringConvertible {
        /// It cannot be opened or read.
        case system(path: String, code: Int32)
        /// It is a folder, a pipe, a device, or a file of the kernel's.
        case notAFile(path: String)
        /// It belongs to somebody else.
        case notOwned(path: String)
        /// It is longer than is read.
        case tooManyBytes(count: Int)
        /// Its header claims more pixels than are drawn.
        case tooManyPixels(width: Int, height: Int)
        /// It is no PNG, JPEG, GIF or WebP.
        case notAPicture

        /// A whole sentence.
        public var description: String {
            switch self {
            case .system(let path, let code):
                "The thumbnail \(path) cannot be read: \(String(cString: strerror(code)))."
            case .notAFile(let path): "The thumbnail \(path) is not a regular file."
            case .notOwned(let path): "The thumbnail \(path) belongs to another user."
            case .tooManyBytes(let count): "The thumbnail has \(count) bytes; \(Thumbnail.maximumBytes) are the limit."
            case .tooManyPixels(let width, let height):
                "The thumbnail claims \(width) × \(height) pixels, which is too many."
            case .notAPicture: "The thumbnail is neither PNG, JPEG, GIF nor WebP."
            }
        }
    }

    /// Reads a thumbnail. Blocks the caller while the file system does.
    ///
    /// A file is opened without following a link at its end and without waiting, and read only if it is a regular file of
    /// the user who asks, on a file system that holds files; no more of it than ``maximumBytes``.
    ///
    /// - Parameter owner: Whose files may be read.
    public static func read(_ reference: Reference, owner: UInt32 = geteuid()) throws(Problem) -> Thumbnail {
        switch reference {
        case .data(let bytes): try Thumbnail(bytes)
        case .file(let path): try Thumbnail(contents(of: path, owner: owner))
        }
    }

    private init(_ bytes: [UInt8]) throws(Problem) {
        guard bytes.count <= Self.maximumBytes else { throw .tooManyBytes(count: bytes.count) }
        guard let header = ImageHeader(bytes[...]) else { throw .notAPicture }
        guard !header.isTooLarge else { throw .tooManyPixels(width: header.width, height: header.height) }
        (self.header, self.bytes) = (header, bytes)
    }

    private static func contents(of path: String, owner: UInt32) throws(Problem) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw .system(path: path, code: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .system(path: path, code: errno) }
        // Files of the kernel's say that they are empty, whatever can be read of them.
        guard status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 else { throw .notAFile(path: path) }
        guard status.st_uid == owner else { throw .notOwned(path: path) }
        guard status.st_size <= maximumBytes else { throw .tooManyBytes(count: Int(status.st_size)) }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw .system(path: path, code: errno) }
            if result == 0 { break }
            count += result
        }
        return Array(bytes[..<count])
    }

    /// As an address that a page can show.
    var address: String { "data:\(header.mediaType);base64,\(Data(bytes).base64EncodedString())" }
}

extension ItemRecord {
    /// The attributes that ``thumbnailReference`` reads.
    public static let thumbnailAttributes = ["thumbnailData", "thumbnailURL"]

    /// Where the item's thumbnail is: in the item, or in a file of this machine. A web address is none.
    public var thumbnailReference: Thumbnail.Reference? {
        if case .data(let bytes)? = attributes["thumbnailData"], !bytes.isEmpty { return .data(bytes) }
        return localPath(of: "thumbnailURL").map { .file(path: $0) }
    }
}
