// SPDX-License-Identifier: Apache-2.0
import CGcrypt
import Glibc

/// An incremental SHA-256 (libgcrypt). Must not be used by two threads at once.
package final class RunningDigest {
    private static let isReady = gcry_check_version(nil) != nil
    private static let algorithm = Int32(GCRY_MD_SHA256.rawValue)
    private let state: gcry_md_hd_t

    /// Starts a digest.
    ///
    /// - Throws: ``PromiseError/inputOutput(operation:path:code:)`` if libgcrypt is not usable.
    package init() throws(PromiseError) {
        var state: gcry_md_hd_t?
        let error = Self.isReady ? gcry_md_open(&state, Self.algorithm, 0) : GPG_ERR_NOT_INITIALIZED.rawValue
        guard error == 0, let state else {
            throw .inputOutput(operation: "Computing the SHA-256 of", path: "the content", code: ENOSYS)
        }
        self.state = state
    }

    /// Adds bytes.
    package func add(_ bytes: UnsafeRawBufferPointer) { gcry_md_write(state, bytes.baseAddress, bytes.count) }

    /// Returns the digest of all bytes, 32 bytes long. No bytes may be added afterwards.
    package func finish() -> [UInt8] {
        Array(UnsafeBufferPointer(start: gcry_md_read(state, Self.algorithm), count: 32))
    }

    deinit { gcry_md_close(state) }
}
