// SPDX-License-Identifier: Apache-2.0
import CSodium
import Glibc
import SystemSupport
import WriteAheadLog

/// The way in which the keys of a store are kept.
package enum KeyStorage: String, Hashable, Sendable, Codable {
    /// Sealed with a key that is derived from a passphrase.
    case passphrase
    /// Sealed with a key in the keyring of the desktop.
    case keyring
}

/// The file with the master key of a store, which is sealed with a key derived from a passphrase
/// (Argon2id), or with a random key in a keyring. The master key seals the keys of the indexes.
///
/// ```swift
/// let (file, master) = try MasterKeyFile.create(passphrase: Array("correct horse".utf8))
/// let same = try file.masterKey(passphrase: Array("correct horse".utf8))
/// ```
///
/// Format, numbers in little endian: the magic number, the version, the random identifier of the
/// store's keys (16 bytes), the parameters, the sealed master key (72), and a CRC-32C of all that.
/// In version 1 the parameters are the operations (8) and the memory (8) of Argon2id, and the salt
/// (16). In version 2 they are the number of sealed keys (1), 1 and the same parameters for a
/// passphrase, or 2 and the identifier of the key in the keyring (16). A second sealed key is the
/// previous master key, during a rotation. The sealing covers everything before the first sealed
/// key, so the cost of a guess cannot be lowered unnoticed.
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

    /// The origin of the key that seals the master key.
    private enum Wrapping: Hashable {
        case passphrase(Cost, salt: [UInt8])
        case keyring(VaultIdentifier)
    }

    /// The keys of an opened file.
    package struct Keys: Sendable {
        /// The master key.
        package let master: SecretKey
        /// The master key before a rotation that has not ended; `nil` normally.
        package let previous: SecretKey?
        /// The key that seals the others.
        fileprivate let wrapping: SecretKey

        fileprivate init(master: SecretKey, previous: SecretKey?, wrapping: SecretKey) {
            (self.master, self.previous, self.wrapping) = (master, previous, wrapping)
        }

        /// The keys of a rotation from the master key of other keys to a new one.
        package init(rotating keys: Keys, to master: SecretKey) {
            self.init(master: master, previous: keys.master, wrapping: keys.wrapping)
        }

        /// Overwrites all keys but the master key.
        package func wipeOthers() {
            previous?.wipe()
            wrapping.wipe()
        }

        /// Overwrites all keys.
        package func wipe() {
            master.wipe()
            wipeOthers()
        }
    }

    /// The random identifier of the store's keys.
    package let vault: VaultIdentifier
    private let wrapping: Wrapping
    private let sealedKey: [UInt8]
    /// The previous master key; empty except during a rotation.
    private let sealedPrevious: [UInt8]

    /// The way in which the keys are kept.
    package var storage: KeyStorage { if case .passphrase = wrapping { .passphrase } else { .keyring } }
    /// The identifier of the key in the keyring; `nil` for a passphrase.
    package var keyringKey: VaultIdentifier? { if case .keyring(let key) = wrapping { key } else { nil } }

    /// The longest passphrase, in bytes.
    package static let maximumPassphraseBytes = 1024
    private static let magic = Array("SLMASTER".utf8)
    private static let versions: ClosedRange<UInt8> = 1...2
    private static let saltBytes = 16
    private static let startBytes = magic.count + 1 + VaultIdentifier.byteCount
    /// The length of a file in bytes, at most.
    static let maximumBytes = startBytes + 2 + 16 + saltBytes + 2 * SecretKey.sealedByteCount + 4

    /// Creates a random master key and seals it with a passphrase.
    package static func create(
        passphrase: [UInt8], cost: Cost = .standard
    ) throws(ProtectionError) -> (file: MasterKeyFile, key: SecretKey) {
        let key = try SecretKey()
        return (try MasterKeyFile(vault: VaultIdentifier(), key, passphrase: passphrase, cost: cost), key)
    }

    /// Seals a master key with a passphrase: a new file that replaces the earlier one changes the
    /// passphrase.
    package init(
        vault: VaultIdentifier, _ key: SecretKey, previous: SecretKey? = nil, passphrase: [UInt8],
        cost: Cost = .standard
    ) throws(ProtectionError) {
        let salt = (0..<Self.saltBytes).map { _ in UInt8.random(in: .min ... .max) }
        let wrapping = try Self.derive(passphrase, salt, cost)
        defer { wrapping.wipe() }
        try self.init(vault, .passphrase(cost, salt: salt), key, previous, sealedWith: wrapping)
    }

    /// Seals a master key with a key that a keyring keeps.
    ///
    /// - Parameter identifier: The identifier of that key.
    package init(
        vault: VaultIdentifier, _ key: SecretKey, previous: SecretKey? = nil, keyringKey: SecretKey,
        identifier: VaultIdentifier
    ) throws(ProtectionError) {
        try self.init(vault, .keyring(identifier), key, previous, sealedWith: keyringKey)
    }

    private init(
        _ vault: VaultIdentifier, _ wrapping: Wrapping, _ key: SecretKey, _ previous: SecretKey?,
        sealedWith sealing: SecretKey
    ) throws(ProtectionError) {
        (self.vault, self.wrapping) = (vault, wrapping)
        let head = Self.head(vault, wrapping, hasPrevious: previous != nil)
        sealedKey = try key.sealed(with: sealing, context: head)
        sealedPrevious = try previous?.sealed(with: sealing, context: head + [1]) ?? []
    }

    /// The same file with other keys, sealed as before.
    ///
    /// - Parameter keys: The opened keys of this file.
    package func replacing(
        master: SecretKey, previous: SecretKey?, _ keys: Keys
    ) throws(ProtectionError) -> MasterKeyFile {
        try MasterKeyFile(vault, wrapping, master, previous, sealedWith: keys.wrapping)
    }

    /// Opens the master key.
    ///
    /// - Throws: ``ProtectionError/wrongPassphrase``. Each call has the ``Cost`` of the file.
    package func masterKey(passphrase: [UInt8]) throws(ProtectionError) -> SecretKey {
        let keys = try keys(passphrase: passphrase)
        keys.wipeOthers()
        return keys.master
    }

    /// Opens the keys with a passphrase.
    ///
    /// - Throws: ``ProtectionError/wrongPassphrase``, or ``ProtectionError/otherStorage(_:)``. Each
    ///   call has the ``Cost`` of the file.
    package func keys(passphrase: [UInt8]) throws(ProtectionError) -> Keys {
        guard case .passphrase(let cost, let salt) = wrapping else { throw .otherStorage(storage) }
        guard let keys = try open(with: Self.derive(passphrase, salt, cost)) else { throw .wrongPassphrase }
        return keys
    }

    /// Opens the keys with one of the keys of a keyring.
    ///
    /// - Throws: ``ProtectionError/keyring(_:)`` if none of them is the right one, or
    ///   ``ProtectionError/otherStorage(_:)``.
    package func keys(keyringKeys: [SecretKey]) throws(ProtectionError) -> Keys {
        guard case .keyring = wrapping else { throw .otherStorage(storage) }
        for key in keyringKeys { if let keys = try open(with: key.copy()) { return keys } }
        throw .keyring(.missingKey)
    }

    private func open(with wrapping: SecretKey) throws(ProtectionError) -> Keys? {
        let head = Self.head(vault, self.wrapping, hasPrevious: !sealedPrevious.isEmpty)
        guard let master = try SecretKey.open(sealedKey, with: wrapping, context: head) else { return nil }
        guard !sealedPrevious.isEmpty else { return Keys(master: master, previous: nil, wrapping: wrapping) }
        guard let previous = try SecretKey.open(sealedPrevious, with: wrapping, context: head + [1]) else { return nil }
        return Keys(master: master, previous: previous, wrapping: wrapping)
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

    /// The bytes before the first sealed key.
    private static func head(_ vault: VaultIdentifier, _ wrapping: Wrapping, hasPrevious: Bool) -> [UInt8] {
        func parameters(_ cost: Cost, _ salt: [UInt8]) -> [UInt8] {
            var bytes: [UInt8] = []
            LittleEndian.append(cost.operations, to: &bytes)
            LittleEndian.append(cost.memory, to: &bytes)
            return bytes + salt
        }
        let count: UInt8 = hasPrevious ? 2 : 1
        switch wrapping {
        case .passphrase(let cost, let salt) where !hasPrevious:
            return magic + [1] + vault.bytes + parameters(cost, salt)
        case .passphrase(let cost, let salt):
            return magic + [2] + vault.bytes + [count, 1] + parameters(cost, salt)
        case .keyring(let key): return magic + [2] + vault.bytes + [count, 2] + key.bytes
        }
    }

    // MARK: The file

    /// The bytes of the file.
    package var encoded: [UInt8] {
        var bytes = Self.head(vault, wrapping, hasPrevious: !sealedPrevious.isEmpty) + sealedKey + sealedPrevious
        LittleEndian.append(CRC32C.of(bytes), to: &bytes)
        return bytes
    }

    /// Decodes the bytes of a file.
    ///
    /// - Throws: ``ProtectionError``. Never traps, for any bytes.
    package init(decoding bytes: [UInt8], path: String) throws(ProtectionError) {
        guard bytes.count > Self.magic.count, bytes.starts(with: Self.magic) else {
            throw .damaged(path: path, detail: "it is not a file of keys")
        }
        let version = bytes[Self.magic.count]
        guard Self.versions.contains(version) else { throw .newerFormat(path: path) }
        guard bytes.count >= Self.startBytes + 4,
            bytes.withUnsafeBytes({ LittleEndian.load(UInt32.self, at: bytes.count - 4, from: $0) })
                == CRC32C.of(Array(bytes.dropLast(4)))
        else { throw .damaged(path: path, detail: "its checksum is wrong") }
        var rest = bytes[(Self.magic.count + 1)...].dropLast(4)
        func take(_ count: Int) throws(ProtectionError) -> [UInt8] {
            guard rest.count >= count else { throw .damaged(path: path, detail: "it is too short") }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        vault = VaultIdentifier(bytes: try take(VaultIdentifier.byteCount))
        let (count, kind): (UInt8, UInt8)
        if version == 1 { (count, kind) = (1, 1) } else { (count, kind) = (try take(1)[0], try take(1)[0]) }
        switch kind {
        case 1:
            let numbers = try take(16)
            let cost = numbers.withUnsafeBytes { buffer in
                Cost(
                    operations: LittleEndian.load(UInt64.self, at: 0, from: buffer),
                    memory: LittleEndian.load(UInt64.self, at: 8, from: buffer))
            }
            guard cost.isAcceptable else {
                throw .damaged(path: path, detail: "its cost of a passphrase is out of bounds")
            }
            wrapping = .passphrase(cost, salt: try take(Self.saltBytes))
        case 2: wrapping = .keyring(VaultIdentifier(bytes: try take(VaultIdentifier.byteCount)))
        default: throw .newerFormat(path: path)
        }
        // A file with a passphrase and one key always has version 1, because the sealing covers the
        // version.
        guard version == 1 || kind != 1 || count != 1 else {
            throw .damaged(path: path, detail: "its version is wrong")
        }
        sealedKey = try take(SecretKey.sealedByteCount)
        sealedPrevious = count == 2 ? try take(SecretKey.sealedByteCount) : []
        guard (1...2).contains(count), rest.isEmpty else { throw .damaged(path: path, detail: "its length is wrong") }
    }

    /// Reads the file at a path; `nil` if there is none.
    package static func read(_ path: String) throws(ProtectionError) -> MasterKeyFile? {
        let bytes: [UInt8]?
        do throws(UntrustedFile) { bytes = try OwnFile.bytes(path, limit: maximumBytes) } catch {
            guard case .system(_, EFBIG) = error.problem else { throw .file(error.description) }
            throw .damaged(path: path, detail: "it is too long")
        }
        return try bytes.map { (bytes) throws(ProtectionError) in try MasterKeyFile(decoding: bytes, path: path) }
    }

    /// Replaces the file at a path, durably, and overwrites the earlier file. After a crash, either
    /// file is there, whole.
    package func write(
        to path: String, in folder: String, _ files: any LogFiles = SystemLogFiles()
    ) throws(ProtectionError) {
        let replaced = try? files.open(path, for: .update)
        do throws(LogFileError) { _ = try files.createWhole(path, contents: encoded, in: folder) } catch {
            throw ProtectionError(error)
        }
        // Overwrites the keys of the replaced file, so that its passphrase opens nothing. Errors
        // are ignored, because the new file is already in use.
        guard let replaced, let size = try? replaced.size(), size <= Self.maximumBytes else { return }
        try? replaced.writeAll([UInt8](repeating: 0, count: size), at: 0)
        try? replaced.synchronize()
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

    /// Creates an identifier from bytes, of which there must be ``byteCount``.
    package init(bytes: [UInt8]) { self.bytes = bytes }
}
