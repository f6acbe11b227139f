// SPDX-License-Identifier: Apache-2.0
import CSodium
import ItemRecord
import SystemSupport
import WriteAheadLog

/// The beginning of a ``SealedLog``: the index, and its keys, sealed with the master key.
///
/// Format, numbers in little endian: the magic number, the version, the class, the lengths of the
/// bundle identifier and of the index name (2 bytes each), the random identifiers of the file and
/// of the store's keys (16 each), the public key (32; zeros for `complete`), both names, the sealed
/// keys (72 each), and a CRC-32C of all that. The sealing of the keys covers everything before
/// them, so the records of the file belong to this index and to no other. Version 2 has longer
/// frames than version 1 (``SealedLog``).
package struct SealedLogHeader: Hashable, Sendable {
    /// The index.
    package let scope: IndexScope
    /// The class; one of the encrypted classes.
    package let protection: ProtectionClass
    /// The version of the format, of the header and of the frames.
    let version: UInt8
    /// The random identifier of the file.
    package let identifier: VaultIdentifier
    /// The identifier of the store's keys (``MasterKeyFile/vault``).
    package let vault: VaultIdentifier
    /// The public key with which a locked store accepts donations; `nil` if it accepts none.
    let publicKey: [UInt8]?
    /// The key of the records, sealed with the master key.
    private var sealedKey: [UInt8] = []
    /// The private key of ``publicKey``, sealed with the master key; empty without a public key.
    private var sealedPrivateKey: [UInt8] = []

    /// The keys of a file.
    struct Keys: Sendable {
        /// The key of records that the unlocked store wrote.
        var records: SecretKey
        /// The private key for records that the locked store wrote.
        var donations: SecretKey?

        func wipe() {
            records.wipe()
            donations?.wipe()
        }
    }

    private static let magic = Array("SLSEALED".utf8)
    /// The version of new files.
    package static let currentVersion: UInt8 = 2
    /// The versions that can be read.
    private static let versions: ClosedRange<UInt8> = 1...2
    private static let publicKeyBytes = Int(crypto_box_publickeybytes())
    /// The length up to the names, in bytes.
    private static let fixedBytes = magic.count + 2 + 4 + 2 * VaultIdentifier.byteCount + publicKeyBytes
    /// The longest bundle identifier and index name, in bytes.
    static let maximumNameBytes = 4096
    /// The longest header in bytes.
    static let maximumBytes = fixedBytes + 2 * (maximumNameBytes + SecretKey.sealedByteCount) + 4

    /// Creates a header with new keys.
    static func create(
        _ scope: IndexScope, _ protection: ProtectionClass, vault: VaultIdentifier, master: SecretKey,
        version: UInt8 = currentVersion
    ) throws(ProtectionError) -> (header: SealedLogHeader, keys: Keys) {
        for name in [scope.bundle, scope.index ?? ""] where name.utf8.count > maximumNameBytes {
            throw .tooLarge(bytes: name.utf8.count, limit: maximumNameBytes)
        }
        var keys = Keys(records: try SecretKey())
        var publicKey: [UInt8]?
        if protection == .completeUnlessOpen {
            var made = [UInt8](repeating: 0, count: publicKeyBytes)
            keys.donations = try SecretKey { (memory: UnsafeMutablePointer<UInt8>) throws(ProtectionError) in
                crypto_box_keypair(&made, memory)
            }
            publicKey = made
        }
        var header = SealedLogHeader(
            scope: scope, protection: protection, identifier: VaultIdentifier(), vault: vault, publicKey: publicKey,
            version: version)
        header.sealedKey = try keys.records.sealed(with: master, context: header.context(role: 0))
        header.sealedPrivateKey = try keys.donations?.sealed(with: master, context: header.context(role: 1)) ?? []
        return (header, keys)
    }

    /// Opens the keys.
    ///
    /// - Throws: ``ProtectionError/damaged(path:detail:)`` if the header was sealed with a
    ///   different master key, or if any byte of it was changed.
    func keys(master: SecretKey, path: String) throws(ProtectionError) -> Keys {
        guard let records = try SecretKey.open(sealedKey, with: master, context: context(role: 0)) else {
            throw .damaged(path: path, detail: "its key does not belong to the store's keys")
        }
        guard publicKey != nil else { return Keys(records: records) }
        guard let donations = try SecretKey.open(sealedPrivateKey, with: master, context: context(role: 1)) else {
            throw .damaged(path: path, detail: "its key does not belong to the store's keys")
        }
        return Keys(records: records, donations: donations)
    }

    // MARK: The bytes

    private init(
        scope: IndexScope, protection: ProtectionClass, identifier: VaultIdentifier, vault: VaultIdentifier,
        publicKey: [UInt8]?, version: UInt8
    ) {
        self.version = version
        self.scope = scope
        self.protection = protection
        self.identifier = identifier
        self.vault = vault
        self.publicKey = publicKey
    }

    /// The bytes before the sealed keys.
    private var head: [UInt8] {
        var bytes = Self.magic + [version, protection == .complete ? 2 : 1]
        let (bundle, index) = (Array(scope.bundle.utf8), Array((scope.index ?? "").utf8))
        LittleEndian.append(UInt16(clamping: bundle.count), to: &bytes)
        LittleEndian.append(UInt16(clamping: index.count), to: &bytes)
        bytes += identifier.bytes + vault.bytes + (publicKey ?? [UInt8](repeating: 0, count: Self.publicKeyBytes))
        return bytes + bundle + index
    }

    private func context(role: UInt8) -> [UInt8] { head + [role] }

    /// The bytes of the header.
    var encoded: [UInt8] {
        var bytes = head + sealedKey + sealedPrivateKey
        LittleEndian.append(CRC32C.of(bytes), to: &bytes)
        return bytes
    }

    /// Decodes the header at the beginning of a file.
    ///
    /// - Parameter bytes: The first ``maximumBytes`` bytes of the file, or all.
    /// - Throws: ``ProtectionError``. Never traps, for any bytes.
    init(decoding bytes: [UInt8], path: String) throws(ProtectionError) {
        guard bytes.count >= Self.fixedBytes, bytes.starts(with: Self.magic) else {
            throw .damaged(path: path, detail: "it is not a protected index")
        }
        version = bytes[Self.magic.count]
        guard Self.versions.contains(version) else { throw .newerFormat(path: path) }
        let numbers = Self.magic.count + 2
        let (bundleBytes, indexBytes) = bytes.withUnsafeBytes {
            (
                Int(LittleEndian.load(UInt16.self, at: numbers, from: $0)),
                Int(LittleEndian.load(UInt16.self, at: numbers + 2, from: $0))
            )
        }
        let isComplete = bytes[Self.magic.count + 1] == 2
        let keyBytes = SecretKey.sealedByteCount * (isComplete ? 1 : 2)
        let end = Self.fixedBytes + bundleBytes + indexBytes + keyBytes
        guard isComplete || bytes[Self.magic.count + 1] == 1, bundleBytes <= Self.maximumNameBytes,
            indexBytes <= Self.maximumNameBytes, bytes.count >= end + 4,
            bytes.withUnsafeBytes({ LittleEndian.load(UInt32.self, at: end, from: $0) })
                == CRC32C.of(Array(bytes.prefix(end)))
        else { throw .damaged(path: path, detail: "the checksum of its beginning is wrong") }
        var rest = bytes[(numbers + 4)...]
        func take(_ count: Int) -> [UInt8] {
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        identifier = VaultIdentifier(bytes: take(VaultIdentifier.byteCount))
        vault = VaultIdentifier(bytes: take(VaultIdentifier.byteCount))
        let key = take(Self.publicKeyBytes)
        protection = isComplete ? .complete : .completeUnlessOpen
        publicKey = isComplete ? nil : key
        guard let bundle = String(validating: take(bundleBytes), as: UTF8.self),
            let index = String(validating: take(indexBytes), as: UTF8.self)
        else { throw .damaged(path: path, detail: "a name in it is not UTF-8") }
        scope = IndexScope(bundle: bundle, index: index.isEmpty ? nil : index)
        sealedKey = take(SecretKey.sealedByteCount)
        sealedPrivateKey = isComplete ? [] : take(SecretKey.sealedByteCount)
        guard !isDestroyed else { throw .damaged(path: path, detail: "its keys were destroyed") }
    }

    /// `true` if the keys are overwritten.
    private var isDestroyed: Bool { sealedKey.allSatisfy { $0 == 0 } && sealedPrivateKey.allSatisfy { $0 == 0 } }

    // MARK: Destroying the keys

    /// The position in the file, in bytes, from which ``destroyedKeys`` are written.
    var keyOffset: Int { head.count }

    /// The bytes that replace the sealed keys and the checksum of the header.
    var destroyedKeys: [UInt8] {
        var destroyed = self
        destroyed.sealedKey = [UInt8](repeating: 0, count: sealedKey.count)
        destroyed.sealedPrivateKey = [UInt8](repeating: 0, count: sealedPrivateKey.count)
        return Array(destroyed.encoded.dropFirst(keyOffset))
    }

    /// The owner of a file, as its header states it. The header may be damaged, and its keys
    /// destroyed.
    package struct Claim: Hashable, Sendable {
        /// The index.
        package var scope: IndexScope
        /// The random identifier of the file.
        package var identifier: VaultIdentifier
        /// `true` if the keys are overwritten.
        package var isDestroyed: Bool
        /// The position and length of the sealed keys, in bytes.
        var keys: Range<Int>
    }

    /// Reads the owner of a file without checking the checksum, so that a file that cannot be
    /// opened is still removed together with its owner.
    ///
    /// - Returns: `nil` if the bytes do not begin like a header.
    static func claim(_ bytes: [UInt8]) -> Claim? {
        guard bytes.count >= fixedBytes, bytes.starts(with: magic), versions.contains(bytes[magic.count]) else {
            return nil
        }
        let numbers = magic.count + 2
        let (bundleBytes, indexBytes) = bytes.withUnsafeBytes {
            (
                Int(LittleEndian.load(UInt16.self, at: numbers, from: $0)),
                Int(LittleEndian.load(UInt16.self, at: numbers + 2, from: $0))
            )
        }
        let start = fixedBytes + bundleBytes + indexBytes
        guard bundleBytes <= maximumNameBytes, indexBytes <= maximumNameBytes, bytes.count >= start,
            let bundle = String(validating: bytes[fixedBytes..<fixedBytes + bundleBytes], as: UTF8.self),
            let index = String(validating: bytes[(fixedBytes + bundleBytes)..<start], as: UTF8.self)
        else { return nil }
        let keyBytes = SecretKey.sealedByteCount * (bytes[magic.count + 1] == 2 ? 1 : 2)
        let keys = start..<min(start + keyBytes, bytes.count)
        return Claim(
            scope: IndexScope(bundle: bundle, index: index.isEmpty ? nil : index),
            identifier: VaultIdentifier(bytes: Array(bytes[(numbers + 4)...].prefix(VaultIdentifier.byteCount))),
            isDestroyed: bytes[keys].allSatisfy { $0 == 0 }, keys: keys)
    }
}
