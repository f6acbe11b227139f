// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SystemSupport

/// A store's write lock: a `flock` that only one process at a time can hold. The kernel releases it
/// when the process exits.
final class StoreLock: Sendable {
    private let descriptor: OwnedDescriptor

    /// Takes the lock of the store in a folder. Creates the folder if it is missing.
    init(directory: String) throws(EngineError) {
        do throws(UntrustedFile) {
            try OwnFolder.open(directory, creating: true)
        } catch {
            guard case .system(let operation, let code) = error.problem else { throw .index(SearchIndexError(error)) }
            throw .storeFile(
                path: directory, operation: operation,
                detail: String(cString: strerror(code)) + ". Name another folder with --store")
        }
        try StoreInspection.check(directory)
        let path = directory + "/lock"
        do throws(UntrustedFile) {
            descriptor = try OwnFile.open(path, O_RDWR | O_CREAT)
        } catch {
            guard case .system(_, let code) = error.problem else { throw .index(SearchIndexError(error)) }
            throw .storeFile(path: path, operation: "Opening", detail: String(cString: strerror(code)))
        }
        let number = descriptor.number
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else {
                throw .storeFile(path: path, operation: "Locking", detail: String(cString: strerror(errno)))
            }
            throw .storeInUse(path: directory, process: Self.owner(number))
        }
        // The process number is only used in other processes' error messages.
        let text = "\(getpid())\n"
        ftruncate(number, 0)
        _ = text.withCString { pwrite(number, $0, strlen($0), 0) }
    }

    /// Releases the lock. Closing the descriptor is not enough: a child process between fork and
    /// exec shares the lock.
    func release() { flock(descriptor.number, LOCK_UN) }

    deinit { release() }

    private static func owner(_ number: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 20)
        let count = pread(number, &buffer, buffer.count, 0)
        guard count > 0 else { return nil }
        let text = String(decoding: buffer[..<count], as: UTF8.self).filter(\.isNumber)
        return text.isEmpty ? nil : text
    }
}
