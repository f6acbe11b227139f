// SPDX-License-Identifier: Apache-2.0
import CGcrypt
import CSodium

/// One side of the key exchange `dh-ietf1024-sha256-aes128-cbc-pkcs7` of the Secret Service: a
/// Diffie-Hellman exchange in the group of 1,024 bits of RFC 2409, 6.2. It hides secrets from
/// programs that record the messages of a bus, not from the bus itself.
struct KeyExchange {
    /// The length of the prime and of public keys in bytes.
    static let byteCount = 128
    private static let prime: [UInt64] = [
        0xFFFF_FFFF_FFFF_FFFF, 0xC90F_DAA2_2168_C234, 0xC4C6_628B_80DC_1CD1, 0x2902_4E08_8A67_CC74,
        0x020B_BEA6_3B13_9B22, 0x514A_0879_8E34_04DD, 0xEF95_19B3_CD3A_431B, 0x302B_0A6D_F25F_1437,
        0x4FE1_356D_6D51_C245, 0xE485_B576_625E_7EC6, 0xF44C_42E9_A637_ED6B, 0x0BFF_5CB6_F406_B7ED,
        0xEE38_6BFB_5A89_9FA5, 0xAE9F_2411_7C4B_1FE6, 0x4928_6651_ECE6_5381, 0xFFFF_FFFF_FFFF_FFFF,
    ]
    static var primeBytes: [UInt8] {
        prime.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }
    }

    /// The public key: ``byteCount`` bytes, the most significant first.
    let publicKey: [UInt8]
    private let modulus: BigNumber
    private let exponent: BigNumber

    /// Creates a random private key.
    init() throws(ProtectionError) {
        guard SecretKey.isReady else { throw .noMemory }
        var random = [UInt8](repeating: 0, count: Self.byteCount)
        defer { random.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        randombytes_buf(&random, random.count)
        try self.init(exponent: random)
    }

    /// Adopts a private key.
    init(exponent bytes: [UInt8]) throws(ProtectionError) {
        guard SecretKey.isReady, gcry_check_version(nil) != nil else { throw .noMemory }
        modulus = try BigNumber(Self.primeBytes)
        exponent = try BigNumber(bytes)
        publicKey = try BigNumber([2]).power(exponent, modulo: modulus).bytes(count: Self.byteCount)
    }

    /// Derives the key of the session (HKDF with SHA-256, no salt and no information).
    ///
    /// - Parameter other: The public key of the other side.
    /// - Returns: `nil` if `other` is not a public key of the group.
    func cipher(with other: [UInt8]) throws(ProtectionError) -> SessionCipher? {
        let significant = other.drop { $0 == 0 }
        guard significant.count <= Self.byteCount else { return nil }
        let (base, padded) = (
            try BigNumber(Array(significant)),
            Array(repeating: 0, count: Self.byteCount - significant.count) + significant
        )
        // 0, 1 and the prime less 1 have powers that everyone can guess.
        guard padded.dropLast() != Self.primeBytes.dropLast() || (padded.last ?? 0) < 0xFE, base.isGreater(than: 1),
            base.isLess(than: modulus)
        else { return nil }
        var shared = try base.power(exponent, modulo: modulus).bytes(count: Self.byteCount)
        defer { shared.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        return SessionCipher(
            try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
                var state = crypto_auth_hmacsha256_state()
                var middle = [UInt8](repeating: 0, count: SecretKey.byteCount)
                defer {
                    middle.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
                    withUnsafeMutableBytes(of: &state) { sodium_memzero($0.baseAddress, $0.count) }
                }
                let salt = [UInt8](repeating: 0, count: SecretKey.byteCount)
                crypto_auth_hmacsha256_init(&state, salt, salt.count)
                crypto_auth_hmacsha256_update(&state, shared, UInt64(shared.count))
                crypto_auth_hmacsha256_final(&state, &middle)
                // The first block has 32 bytes; the cipher uses the first 16 of them.
                crypto_auth_hmacsha256_init(&state, middle, middle.count)
                crypto_auth_hmacsha256_update(&state, [1], 1)
                crypto_auth_hmacsha256_final(&state, memory)
            })
    }
}

/// A number of libgcrypt, which overwrites the memory of its numbers when it frees them.
private final class BigNumber {
    /// The number; not changed after its creation.
    private let number: gcry_mpi_t

    private init(adopting number: gcry_mpi_t) { self.number = number }

    /// Creates a number from its bytes, the most significant first.
    init(_ bytes: [UInt8]) throws(ProtectionError) {
        var number: gcry_mpi_t?
        guard gcry_mpi_scan(&number, GCRYMPI_FMT_USG, bytes, bytes.count, nil) == 0, let number else {
            throw .noMemory
        }
        self.number = number
    }

    deinit { gcry_mpi_release(number) }

    func power(_ exponent: BigNumber, modulo modulus: BigNumber) throws(ProtectionError) -> BigNumber {
        guard let result = gcry_mpi_new(UInt32(KeyExchange.byteCount * 8)) else { throw .noMemory }
        gcry_mpi_powm(result, number, exponent.number, modulus.number)
        return BigNumber(adopting: result)
    }

    func isGreater(than other: UInt) -> Bool { gcry_mpi_cmp_ui(number, other) > 0 }
    func isLess(than other: BigNumber) -> Bool { gcry_mpi_cmp(number, other.number) < 0 }

    /// The bytes of the number, with leading zeros.
    func bytes(count: Int) throws(ProtectionError) -> [UInt8] {
        var written = 0
        var bytes = [UInt8](repeating: 0, count: count)
        guard gcry_mpi_print(GCRYMPI_FMT_USG, &bytes, count, &written, number) == 0, written <= count else {
            throw .noMemory
        }
        guard written < count else { return bytes }
        defer { bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        return [UInt8](repeating: 0, count: count - written) + bytes.prefix(written)
    }
}

/// The encryption of a session with a keyring: AES-128 in CBC mode, with padding (PKCS #7). A key
/// is sent as a text of 64 hexadecimal digits, since some keyrings keep only text.
struct SessionCipher: Sendable {
    /// A secret as it is sent.
    struct Sealed: Hashable, Sendable {
        /// The initialization vector: 16 bytes.
        var parameters: [UInt8]
        /// The encrypted bytes.
        var value: [UInt8]
    }

    private let key: SecretKey
    private static let blockBytes = 16
    private static let textBytes = 2 * SecretKey.byteCount

    fileprivate init(_ key: SecretKey) { self.key = key }

    /// Encrypts a key.
    func seal(_ secret: SecretKey) throws(ProtectionError) -> Sealed {
        var parameters = [UInt8](repeating: 0, count: Self.blockBytes)
        randombytes_buf(&parameters, parameters.count)
        // The text is a multiple of a block, so the padding is a whole block.
        var bytes = [UInt8](repeating: UInt8(Self.blockBytes), count: Self.textBytes + Self.blockBytes)
        var text = [CChar](repeating: 0, count: Self.textBytes + 1)
        defer { text.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        try secret.use { (secret: UnsafePointer<UInt8>) throws(ProtectionError) in
            _ = sodium_bin2hex(&text, text.count, secret, SecretKey.byteCount)
        }
        for offset in 0..<Self.textBytes { bytes[offset] = UInt8(bitPattern: text[offset]) }
        try transform(&bytes, parameters) { gcry_cipher_encrypt($0, $1, $2, nil, 0) }
        return Sealed(parameters: parameters, value: bytes)
    }

    /// Decrypts a key.
    ///
    /// - Returns: `nil` if the secret is not a key.
    func open(_ sealed: Sealed) throws(ProtectionError) -> SecretKey? {
        guard sealed.parameters.count == Self.blockBytes, sealed.value.count == Self.textBytes + Self.blockBytes else {
            return nil
        }
        var bytes = sealed.value
        defer { bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) } }
        try transform(&bytes, sealed.parameters) { gcry_cipher_decrypt($0, $1, $2, nil, 0) }
        guard bytes[Self.textBytes...].allSatisfy({ $0 == Self.blockBytes }) else { return nil }
        var isText = false
        let key = try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
            bytes.withUnsafeBytes { text in
                var count = 0
                isText =
                    sodium_hex2bin(
                        memory, SecretKey.byteCount, text.bindMemory(to: CChar.self).baseAddress, Self.textBytes, nil,
                        &count, nil) == 0 && count == SecretKey.byteCount
            }
        }
        return isText ? key : nil
    }

    private func transform(
        _ bytes: inout [UInt8], _ parameters: [UInt8],
        _ body: (gcry_cipher_hd_t, UnsafeMutableRawPointer?, Int) -> gcry_error_t
    ) throws(ProtectionError) {
        let isDone = try key.use { (key: UnsafePointer<UInt8>) throws(ProtectionError) -> Bool in
            var cipher: gcry_cipher_hd_t?
            let (algorithm, mode) = (Int32(GCRY_CIPHER_AES.rawValue), Int32(GCRY_CIPHER_MODE_CBC.rawValue))
            guard gcry_cipher_open(&cipher, algorithm, mode, 0) == 0, let cipher else { return false }
            defer { gcry_cipher_close(cipher) }
            guard gcry_cipher_setkey(cipher, key, 16) == 0,
                gcry_cipher_setiv(cipher, parameters, parameters.count) == 0
            else { return false }
            return bytes.withUnsafeMutableBytes { body(cipher, $0.baseAddress, $0.count) } == 0
        }
        guard isDone else { throw .noMemory }
    }
}
