// SPDX-License-Identifier: Apache-2.0
import Protection
import TestSupport
import Testing

@Suite("The file of keys", .timeLimit(.minutes(10)))
struct MasterKeyFileTests {
    private static let passphrase = Array("correct horse".utf8)

    /// The bytes of a key are not accessible, so two keys are compared by what they open.
    private func isSame(_ key: SecretKey, _ other: SecretKey, _ folder: TemporaryFolder) throws -> Bool {
        let log = try SealedLog.create(
            folder.path("a.sealed"), in: folder.path, .init(bundle: "b"), .complete, vault: VaultIdentifier(),
            master: key
        ) { _ in }
        log.lock()
        do { try log.unlock(master: other) } catch { return false }
        return true
    }

    @Test("The master key comes back with its passphrase only")
    func theMasterKeyComesBackWithItsPassphraseOnly() throws {
        let folder = try TemporaryFolder()
        let (file, key) = try MasterKeyFile.create(passphrase: Self.passphrase, cost: .least)
        try file.write(to: folder.path("key"), in: folder.path)
        let read = try #require(try MasterKeyFile.read(folder.path("key")))
        #expect(read == file)
        #expect(try isSame(key, try read.masterKey(passphrase: Self.passphrase), folder))
        #expect(throws: ProtectionError.wrongPassphrase) { try read.masterKey(passphrase: Array("correct horsf".utf8)) }
        #expect(throws: ProtectionError.unusablePassphrase(limit: 1024)) { try read.masterKey(passphrase: []) }
        #expect(throws: ProtectionError.unusablePassphrase(limit: 1024)) {
            try read.masterKey(passphrase: [UInt8](repeating: 65, count: 1025))
        }
    }

    @Test("A changed passphrase opens the same key")
    func aChangedPassphraseOpensTheSameKey() throws {
        let folder = try TemporaryFolder()
        let (file, key) = try MasterKeyFile.create(passphrase: Self.passphrase, cost: .least)
        let changed = try MasterKeyFile(vault: file.vault, key, passphrase: Array("another".utf8), cost: .least)
        #expect(try isSame(key, try changed.masterKey(passphrase: Array("another".utf8)), folder))
        #expect(throws: ProtectionError.wrongPassphrase) { try changed.masterKey(passphrase: Self.passphrase) }
    }

    @Test("No byte of the file may change")
    func noByteOfTheFileMayChange() throws {
        let (file, _) = try MasterKeyFile.create(passphrase: Self.passphrase, cost: .least)
        for offset in file.encoded.indices {
            var bytes = file.encoded
            bytes[offset] ^= 1
            #expect(throws: ProtectionError.self) {
                try MasterKeyFile(decoding: bytes, path: "key").masterKey(passphrase: Self.passphrase)
            }
        }
        #expect(throws: ProtectionError.self) { try MasterKeyFile(decoding: file.encoded + [0], path: "key") }
        for count in 0..<file.encoded.count {
            #expect(throws: ProtectionError.self) {
                try MasterKeyFile(decoding: Array(file.encoded.prefix(count)), path: "")
            }
        }
    }

    @Test("A missing file is none and a long one is damaged")
    func aMissingFileIsNoneAndALongOneIsDamaged() throws {
        let folder = try TemporaryFolder()
        #expect(try MasterKeyFile.read(folder.path("key")) == nil)
        try folder.write([UInt8](repeating: 7, count: 100_000), to: "key")
        #expect(throws: ProtectionError.damaged(path: folder.path("key"), detail: "it is too long")) {
            try MasterKeyFile.read(folder.path("key"))
        }
    }

    @Test("A wiped key is useless")
    func aWipedKeyIsUseless() throws {
        let key = try SecretKey()
        #expect(!key.isWiped)
        key.wipe()
        key.wipe()
        #expect(key.isWiped)
        #expect(throws: ProtectionError.locked) {
            try MasterKeyFile(vault: VaultIdentifier(), key, passphrase: Self.passphrase, cost: .least)
        }
    }
}
