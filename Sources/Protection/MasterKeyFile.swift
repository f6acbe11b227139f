// SPDX-License-Identifier: Apache-2.0
import CSodium
import Glibc
import SystemSupport
import WriteAheadLog

/// The file with the master key of a store, which is sealed with a key derived from a passphrase
/// (Argon2id). The master key seals the keys of the indexes.
///
/// ```swift
/// let (file, master) = try MasterKeyFile.create(passphrase: Array("correct horse".utf8))
/// let same = try file.masterKey(passphrase: Array("correct horse".utf8))
/// ```
///
/// Format, numbers in little endian: the magic number, the version, the random identifier of the
/// store's keys (16 bytes), the operations (8) and the memory (8) of Argon2id, the salt (16), the
/// sealed master key (72), and a CRC-32C of all that. The sealing covers everything before the
/// sealed key, so the cost of a guess cannot be lowered unnoticed.
package struct MasterKeyFile: Hashable, Sendable {
    /// The cost of one guess of a passphrase.
    package struct Cost: Hashable, Sendable {
        /// The number of passes over the memory.
        package var operations: UInt64
        /// The memory in bytes.
        package var memory: UInt64

        /// About 0.2 s and 64 MiB for each guess.
        package static let standard = Cost(operations: 4, memory: 64 << 20)
        /// The least cost that libsodium accepts, for tests.
        package static let least = Cost(operations: 1, memory: 8 << 10)
        /// The greatest cost that a file may request. A hostile file must not take all memory.
        static let greatest = Cost(operations: 16, memory: 1 << 30)

        var isAcceptable: Bool {
            (Self.least.operations...Self.greatest.operations).contains(operations)
                && (Self.least.memory...Self.greatest.memory).contains(memory)
        }
    }

    /// The random identifier of the store's keys.
    package let vault: VaultIdentifier
    private let cost: Cost
    private let salt: [UInt8]
    private let sealedKey: [UInt8]

    /// The longest passphrase, in bytes.
    package static let maximumPassphraseBytes = 1024
    private static let magic = Array("SLMASTER".utf8)
    private static let version: UInt8 = 1
    private static let saltBytes = 16
    private static let headBytes = magic.count + 1 + VaultIdentifier.byteCount + 16 + saltBytes
    /// The length of the file in bytes.
    static let byteCount = headBytes + SecretKey.sealedByteCount + 4

    /// Creates a random master key and seals it.
    package static func create(
        passphrase: [UInt8], cost: Cost = .standard
    ) throws(ProtectionError) -> (file: MasterKeyFile, key: SecretKey) {
        let key = try SecretKey()
        return (try MasterKeyFile(vault: VaultIdentifier(), key, passphrase: passphrase, cost: cost), key)
    }

    /// Seals a master key with a passphrase: a new file that replaces the earlier one changes the
    /// passphrase.
    package init(
        vault: VaultIdentifier, _ key: SecretKey, passphrase: [UInt8], cost: Cost = .standard
    ) throws(ProtectionError) {
        self.vault = vault
        self.cost = cost
        salt = (0..<Self.saltBytes).map { _ in .random(in: .min ... .max) }
        let wrapping = try Self.derive(passphrase, salt, cost)
        sealedKey = try key.sealed(with: wrapping, context: Self.head(vault, cost, salt))
    }

    /// Opens the master key.
    ///
    /// - Throws: ``ProtectionError/wrongPassphrase``. Each call has the ``Cost`` of the file.
    package func masterKey(passphrase: [UInt8]) throws(ProtectionError) -> SecretKey {
        let wrapping = try Self.derive(passphrase, salt, cost)
        guard let key = try SecretKey.open(sealedKey, with: wrapping, context: Self.head(vault, cost, salt)) else {
            throw .wrongPassphrase
        }
        return key
    }

    private static func derive(_ passphrase: [UInt8], _ salt: [UInt8], _ cost: Cost) throws(ProtectionError)
        -> SecretKey
    {
        guard (1...maximumPassphraseBytes).contains(passphrase.count) else {
            throw .unusablePassphrase(limit: maximumPassphraseBytes)
        }
        return try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
            let isDerived = passphrase.withUnsafeBytes { bytes in
                guard let start = bytes.bindMemory(to: CChar.self).baseAddress else { return false }
                return crypto_pwhash(
                    memory, UInt64(SecretKey.byteCount), start, UInt64(bytes.count), salt, cost.operations,
                    Int(cost.memory), crypto_pwhash_alg_argon2id13()) == 0
            }
            guard isDerived else { throw .noMemory }
        }
    }

    private static func head(_ vault: VaultIdentifier, _ cost: Cost, _ salt: [UInt8]) -> [UInt8] {
        var bytes = magic + [version] + vault.bytes
        LittleEndian.append(cost.operations, to: &bytes)
        LittleEndian.append(cost.memory, to: &bytes)
        return bytes + salt
    }

    // MARK: The file

    /// The bytes of the file.
    package var encoded: [UInt8] {
        var bytes = Self.head(vault, cost, salt) + sealedKey
        LittleEndian.append(CRC32C.of(bytes), to: &bytes)
        return bytes
    }

    /// Decodes the bytes of a file.
    ///
    /// - Throws: ``ProtectionError``. Never traps, whatever the bytes.
    package init(decoding bytes: [UInt8], path: String) throws(ProtectionError) {
        guard bytes.count > Self.magic.count, bytes.starts(with: Self.magic) else {
            throw .damaged(path: path, detail: "it is not a file of keys")
        }
        guard bytes[Self.magic.count] == Self.version else { throw .newerFormat(path: path) }
        guard bytes.count == Self.byteCount,
            bytes.withUnsafeBytes({ LittleEndian.load(UInt32.self, at: Self.byteCount - 4, from: $0) })
                == CRC32C.of(Array(bytes.dropLast(4)))
        else { throw .damaged(path: path, detail: "its checksum is wrong") }
        var rest = bytes[(Self.magic.count + 1)...]
        vault = VaultIdentifier(bytes: Array(rest.prefix(VaultIdentifier.byteCount)))
        rest = rest.dropFirst(VaultIdentifier.byteCount)
        let start = rest.startIndex
        cost = bytes.withUnsafeBytes { buffer in
            Cost(
                operations: LittleEndian.load(UInt64.self, at: start, from: buffer),
                memory: LittleEndian.load(UInt64.self, at: start + 8, from: buffer))
        }
        rest = rest.dropFirst(16)
        salt = Array(rest.prefix(Self.saltBytes))
        sealedKey = Array(rest.dropFirst(Self.saltBytes).prefix(SecretKey.sealedByteCount))
        guard cost.isAcceptable else { throw .damaged(path: path, detail: "its cost of a passphrase is out of bounds") }
    }

    /// Reads the file at a path; `nil` if there is none.
    package static func read(_ path: String) throws(ProtectionError) -> MasterKeyFile? {
        let bytes: [UInt8]?
        do throws(UntrustedFile) { bytes = try OwnFile.bytes(path, limit: byteCount) } catch {
            guard case .system(_, EFBIG) = error.problem else { throw .file(error.description) }
            throw .damaged(path: path, detail: "it is too long")
        }
        return try bytes.map { (bytes) throws(ProtectionError) in try MasterKeyFile(decoding: bytes, path: path) }
    }

    /// Replaces the file at a path, durably. After a crash, either file is there, whole.
    package func write(
        to path: String, in folder: String, _ files: any LogFiles = SystemLogFiles()
    ) throws(ProtectionError) {
        do throws(LogFileError) { _ = try files.createWhole(path, contents: encoded, in: folder) } catch {
            throw ProtectionError(error)
        }
    }
}

/// A random number of 16 bytes that names the keys of a store, or a file that they seal.
package struct VaultIdentifier: Hashable, Sendable {
    /// The length in bytes.
    package static let byteCount = 16
    /// The bytes, always ``byteCount`` of them.
    package let bytes: [UInt8]

    /// Creates a random identifier.
    package init() { bytes = (0..<Self.byteCount).map { _ in .random(in: .min ... .max) } }

    init(bytes: [UInt8]) { self.bytes = bytes }
}
