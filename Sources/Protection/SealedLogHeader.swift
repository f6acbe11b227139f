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
/// them, so the records of the file belong to this index and to no other.
package struct SealedLogHeader: Hashable, Sendable {
    /// The index.
    package let scope: IndexScope
    /// The class; one of the encrypted classes.
    package let protection: ProtectionClass
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
    private static let version: UInt8 = 1
    private static let publicKeyBytes = Int(crypto_box_publickeybytes())
    /// The length up to the names, in bytes.
    private static let fixedBytes = magic.count + 2 + 4 + 2 * VaultIdentifier.byteCount + publicKeyBytes
    /// The longest bundle identifier and index name, in bytes.
    static let maximumNameBytes = 4096
    /// The longest header in bytes.
    static let maximumBytes = fixedBytes + 2 * (maximumNameBytes + SecretKey.sealedByteCount) + 4

    /// Creates a header with new keys.
    static func create(
        _ scope: IndexScope, _ protection: ProtectionClass, vault: VaultIdentifier, master: SecretKey
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
            scope: scope, protection: protection, identifier: VaultIdentifier(), vault: vault, publicKey: publicKey)
        header.sealedKey = try keys.records.sealed(with: master, context: header.context(role: 0))
        header.sealedPrivateKey = try keys.donations?.sealed(with: master, context: header.context(role: 1)) ?? []
        return (header, keys)
    }

    /// Opens the keys.
    ///
    /// - Throws: ``ProtectionError/damaged(path:detail:)`` if the master key is another one, or if
    ///   any byte of the header was changed.
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

    /// The position and length of the sealed keys in the file, in bytes.
    var keyRange: Range<Int> {
        let start = head.count
        return start..<start + sealedKey.count + sealedPrivateKey.count
    }

    // MARK: The bytes

    private init(
        scope: IndexScope, protection: ProtectionClass, identifier: VaultIdentifier, vault: VaultIdentifier,
        publicKey: [UInt8]?
    ) {
        self.scope = scope
        self.protection = protection
        self.identifier = identifier
        self.vault = vault
        self.publicKey = publicKey
    }

    /// The bytes before the sealed keys.
    private var head: [UInt8] {
        var bytes = Self.magic + [Self.version, protection == .complete ? 2 : 1]
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
    /// - Throws: ``ProtectionError``. Never traps, whatever the bytes.
    init(decoding bytes: [UInt8], path: String) throws(ProtectionError) {
        guard bytes.count >= Self.fixedBytes, bytes.starts(with: Self.magic) else {
            throw .damaged(path: path, detail: "it is not a protected index")
        }
        guard bytes[Self.magic.count] == Self.version else { throw .newerFormat(path: path) }
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
    }
}
