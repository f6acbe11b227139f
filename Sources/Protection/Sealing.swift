// SPDX-License-Identifier: Apache-2.0
import CSodium

/// Authenticated encryption: XChaCha20-Poly1305 with a random nonce. A sealed text is the nonce,
/// the encrypted bytes and the tag.
enum Sealing {
    private static let nonceBytes = 24
    private static let tagBytes = 16
    /// The length of a sealed text beyond the length of its plain text, in bytes.
    static let overhead = nonceBytes + tagBytes

    /// Encrypts bytes.
    ///
    /// - Parameter context: Bytes that are not encrypted and that ``open(_:with:context:)``
    ///   requires, so that a sealed text is valid only where it belongs.
    /// - Throws: ``ProtectionError/locked`` if the key is wiped.
    static func seal(
        _ plain: UnsafeRawBufferPointer, with key: SecretKey, context: [UInt8]
    ) throws(ProtectionError) -> [UInt8] {
        try key.use { (key: UnsafePointer<UInt8>) throws(ProtectionError) -> [UInt8] in
            [UInt8](unsafeUninitializedCapacity: plain.count + overhead) { buffer, count in
                count = plain.count + overhead
                guard let nonce = buffer.baseAddress else { return }
                randombytes_buf(nonce, nonceBytes)
                crypto_aead_xchacha20poly1305_ietf_encrypt(
                    nonce + nonceBytes, nil, plain.bindMemory(to: UInt8.self).baseAddress, UInt64(plain.count), context,
                    UInt64(context.count), nil, nonce, key)
            }
        }
    }

    /// Decrypts bytes.
    ///
    /// - Returns: The plain text; `nil` if the key or the context is wrong, or if any byte was
    ///   changed.
    /// - Throws: ``ProtectionError/locked`` if the key is wiped.
    static func open(
        _ sealed: UnsafeRawBufferPointer, with key: SecretKey, context: [UInt8]
    ) throws(ProtectionError) -> [UInt8]? {
        guard sealed.count >= overhead, let nonce = sealed.bindMemory(to: UInt8.self).baseAddress else { return nil }
        return try key.use { (key: UnsafePointer<UInt8>) throws(ProtectionError) -> [UInt8]? in
            var isAuthentic = false
            let plain = [UInt8](unsafeUninitializedCapacity: sealed.count - overhead) { buffer, count in
                isAuthentic =
                    crypto_aead_xchacha20poly1305_ietf_decrypt(
                        buffer.baseAddress, nil, nil, nonce + nonceBytes, UInt64(sealed.count - nonceBytes), context,
                        UInt64(context.count), nonce, key) == 0
                count = isAuthentic ? sealed.count - overhead : 0
            }
            return isAuthentic ? plain : nil
        }
    }
}

extension SecretKey {
    /// The length of a key that is sealed with another key, in bytes.
    static let sealedByteCount = byteCount + Sealing.overhead

    /// Returns this key sealed with another key.
    func sealed(with other: SecretKey, context: [UInt8]) throws(ProtectionError) -> [UInt8] {
        try use { (bytes: UnsafePointer<UInt8>) throws(ProtectionError) in
            try Sealing.seal(
                UnsafeRawBufferPointer(start: bytes, count: Self.byteCount), with: other, context: context)
        }
    }

    /// Opens a sealed key.
    ///
    /// - Returns: `nil` if `other` or the context is wrong, or if any byte was changed.
    static func open(
        _ sealed: [UInt8], with other: SecretKey, context: [UInt8]
    ) throws(ProtectionError) -> SecretKey? {
        let opened = try sealed.withUnsafeBytes { bytes in
            Result { () throws(ProtectionError) in try Sealing.open(bytes, with: other, context: context) }
        }.get()
        guard var opened, opened.count == byteCount else { return nil }
        // The array is the only copy outside the key's own memory.
        defer { opened.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        return try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
            for (offset, byte) in opened.enumerated() { memory[offset] = byte }
        }
    }
}
