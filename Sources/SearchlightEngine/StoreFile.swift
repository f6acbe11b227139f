// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SystemSupport

/// A file of the store that is read, and replaced, as a whole.
struct StoreFile: Sendable {
    let path: String
    /// A larger file is damaged, and a larger content is not written, in bytes.
    let maximumBytes: Int

    /// What is there.
    enum Content {
        case missing
        /// What is no file, too large or cannot be read.
        case unreadable
        case bytes(Data)
    }

    /// What is there now.
    func read() -> Content {
        do throws(UntrustedFile) {
            return try OwnFile.bytes(path, limit: maximumBytes).map { .bytes(Data($0)) } ?? .missing
        } catch {
            return .unreadable
        }
    }

    /// Replaces the file, so that a crash leaves the old or the new one. One process at a time.
    ///
    /// - Parameters:
    ///   - settingAside: Whether what is there is kept as `….damaged`.
    ///   - isSynchronized: Whether it is on the disk afterwards.
    /// - Throws: An error of the system.
    func replace(with data: Data, settingAside: Bool = false, isSynchronized: Bool = true) throws {
        // What cannot be read again must not take the place of what can.
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

/// What a file of the store holds, with a checksum over the rest of it. Nothing in it may encode in an order that differs
/// between processes, as sets do, and dictionaries whose keys are no texts.
protocol ChecksummedDocument: Codable {
    /// Of the document without it.
    var checksum: UInt32? { get set }
}

extension ChecksummedDocument {
    /// Encodes the document with its checksum; the same document always to the same bytes.
    func encoded() throws -> Data { try Self.encoder.encode(sealed()) }

    /// Whether nothing of what was read has changed. It is encoded again for that, so that only a change of the meaning
    /// counts.
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
