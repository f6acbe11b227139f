// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SystemSupport

/// A file in the store that is read and replaced as a whole.
struct StoreFile: Sendable {
    let path: String
    /// The maximum size in bytes. A larger file counts as damaged, and larger content is not
    /// written.
    let maximumBytes: Int

    /// The content of the file.
    enum Content {
        case missing
        /// The path is not a regular file, or the file is too large or cannot be read.
        case unreadable
        case bytes(Data)
    }

    /// Reads the file.
    func read() -> Content {
        do throws(UntrustedFile) {
            return try OwnFile.bytes(path, limit: maximumBytes).map { .bytes(Data($0)) } ?? .missing
        } catch {
            return .unreadable
        }
    }

    /// Replaces the file atomically: after a crash, it has either the old or the new content. Only
    /// one process at a time may call this.
    ///
    /// - Parameters:
    ///   - settingAside: `true` to keep the old file as `….damaged`.
    ///   - isSynchronized: `true` to call fsync before the rename.
    /// - Throws: A `POSIXError`.
    func replace(with data: Data, settingAside: Bool = false, isSynchronized: Bool = true) throws {
        // Content above the limit could not be read again, so it must not replace the file.
        guard data.count <= maximumBytes else { throw POSIXError(.EFBIG) }
        let temporary = path + ".new"
        do {
            let descriptor: OwnedDescriptor
            do throws(UntrustedFile) { descriptor = try OwnFile.create(temporary) } catch {
                guard case .system(_, let code) = error.problem else { throw error }
                throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO)
            }
            if settingAside {
                unlink(path + ".damaged")
                link(path, path + ".damaged")
            }
            do throws(ErrnoCode) {
                try data.withUnsafeBytes { WholeTransfer.write($0, to: descriptor.number) }.get()
            } catch {
                throw POSIXError(POSIXErrorCode(rawValue: error.code) ?? .EIO)
            }
            guard !isSynchronized || fsync(descriptor.number) == 0, rename(temporary, path) == 0
            else { throw Self.failure }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    private static var failure: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

/// The content of a store file, with a checksum over its other fields. Its encoding must be the
/// same in every process. That excludes sets, and dictionaries whose keys are not strings.
protocol ChecksummedDocument: Codable {
    /// The checksum of the document without this field.
    var checksum: UInt32? { get set }
}

extension ChecksummedDocument {
    /// Encodes the document with its checksum. Equal documents have equal bytes.
    func encoded() throws -> Data { try Self.encoder.encode(sealed()) }

    /// `true` if the checksum matches. The check encodes the document again, so that only changes
    /// of meaning make it fail.
    var hasRightChecksum: Bool { checksum != nil && (try? sealed())?.checksum == checksum }

    private func sealed() throws -> Self {
        var document = self
        document.checksum = nil
        document.checksum = CRC32C.of(Array(try Self.encoder.encode(document)))
        return document
    }

    private static var encoder: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return encoder
    }
}
