// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchIndex
import SystemSupport

/// The right to change a store: held by one process at a time, given back by the kernel however that process ends.
final class StoreLock: Sendable {
    private let descriptor: OwnedDescriptor

    /// Takes the lock of the store in a folder, which is created if need be.
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
        // For the person who meets the lock; nobody relies on it.
        let text = "\(getpid())\n"
        ftruncate(number, 0)
        _ = text.withCString { pwrite(number, $0, strlen($0), 0) }
    }

    /// Gives the lock back. Closing the descriptor alone would not: a process that is being started at this moment shares
    /// it until its program begins.
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
