// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SearchlightEngine

/// The passphrase of a scratch store. It is in a file beside the store, so its protected indexes
/// are encrypted for nobody. Only a new store gets such a file, never one with items.
struct ScratchKeys {
    let passphrase: [UInt8]

    private static let passphraseBytes = 64

    /// Reads the passphrase of a scratch store, or creates it for a store that does not exist.
    ///
    /// - Throws: ``CommandFailure`` if the store is not a scratch store.
    init(store: String) throws {
        let path = store + ".passphrase"
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file >= 0 {
            defer { close(file) }
            var bytes = [UInt8](repeating: 0, count: Self.passphraseBytes)
            let count = read(file, &bytes, bytes.count)
            guard count == bytes.count else {
                throw CommandFailure(
                    message: "\(path) has no passphrase. Remove it and the store.", status: .inputOutput)
            }
            passphrase = bytes
            return
        }
        guard !FileManager.default.fileExists(atPath: store) else {
            throw CommandFailure(
                message: "\(store) is no scratch store: it was made without --scratch-keys. Name another folder.",
                status: .usage)
        }
        var random = SystemRandomNumberGenerator()
        let digits = Array("0123456789abcdef".utf8)
        let made = (0..<Self.passphraseBytes).map { _ in digits[Int.random(in: digits.indices, using: &random)] }
        let new = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer { if new >= 0 { close(new) } }
        guard new >= 0, write(new, made, made.count) == made.count else {
            throw CommandFailure(
                message: """
                    \(path) cannot be written: \(String(cString: strerror(errno))). Name a store in a folder that you may \
                    write to.
                    """,
                status: .inputOutput)
        }
        passphrase = made
    }
}
