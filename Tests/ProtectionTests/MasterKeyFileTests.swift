// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemSupport
import TestSupport
import Testing
import WriteAheadLog

@testable import Protection

@Suite("The file of keys", .timeLimit(.minutes(10)))
struct MasterKeyFileTests {
    private static let passphrase = Array("correct horse".utf8)

    /// The bytes of a key are not accessible, so two keys are compared by what they can open.
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

    /// The key of a keyring that seals the files below.
    private static let keyringKey = try? SecretKey()

    private static func files() throws -> [MasterKeyFile] {
        let (file, key) = try MasterKeyFile.create(passphrase: passphrase, cost: .least)
        let (vault, outer) = (file.vault, try #require(keyringKey))
        return try [
            file, MasterKeyFile(vault: vault, key, previous: SecretKey(), passphrase: passphrase, cost: .least),
            MasterKeyFile(vault: vault, key, keyringKey: outer, identifier: VaultIdentifier()),
            MasterKeyFile(vault: vault, key, previous: SecretKey(), keyringKey: outer, identifier: VaultIdentifier()),
        ]
    }

    /// Opens a file with the passphrase, or with the key of a keyring among others.
    private static func keys(_ file: MasterKeyFile) throws -> MasterKeyFile.Keys {
        guard file.storage == .keyring else { return try file.keys(passphrase: passphrase) }
        return try file.keys(keyringKeys: [SecretKey(), try #require(keyringKey)])
    }

    @Test("A file for a keyring opens with its key only, and a file of a rotation has both master keys")
    func keyringFiles() throws {
        let folder = try TemporaryFolder()
        for file in try Self.files() {
            try file.write(to: folder.path("key"), in: folder.path)
            let read = try #require(try MasterKeyFile.read(folder.path("key")))
            #expect(read == file && read.keyringKey == file.keyringKey)
            #expect((read.keyringKey != nil) == (read.storage == .keyring))
            let keys = try Self.keys(read)
            let rotated = try read.replacing(master: SecretKey(), previous: keys.master, keys)
            let both = try Self.keys(MasterKeyFile(decoding: rotated.encoded, path: "key"))
            #expect(try isSame(keys.master, try #require(both.previous), folder))
            #expect(try !isSame(keys.master, both.master, folder))
            let ended = try rotated.replacing(master: both.master, previous: nil, both)
            #expect(try isSame(both.master, Self.keys(ended).master, folder))
            if file.storage == .keyring {
                #expect(throws: ProtectionError.keyring(.missingKey)) { try file.keys(keyringKeys: [SecretKey()]) }
                #expect(throws: ProtectionError.otherStorage(.keyring)) { try file.keys(passphrase: Self.passphrase) }
            } else {
                #expect(throws: ProtectionError.otherStorage(.passphrase)) { try file.keys(keyringKeys: []) }
            }
        }
    }

    @Test("A replaced file is overwritten, so that an earlier passphrase opens nothing on the disk")
    func replacedFile() throws {
        let folder = try TemporaryFolder()
        for file in try Self.files() { try file.write(to: folder.path("key"), in: folder.path) }
        let replaced = try #require(FileHandle(forReadingAtPath: folder.path("key")))
        try #require(try Self.files().first).write(to: folder.path("key"), in: folder.path)
        #expect(try #require(try replaced.readToEnd()).allSatisfy { $0 == 0 })
        #expect(try folder.names == ["key"])
    }

    @Test("No byte of a file may change")
    func noByteOfTheFileMayChange() throws {
        for file in try Self.files() { try check(file) }
    }

    private func check(_ file: MasterKeyFile) throws {
        for offset in file.encoded.indices {
            var bytes = file.encoded
            bytes[offset] ^= 1
            #expect(throws: ProtectionError.self) { try Self.keys(MasterKeyFile(decoding: bytes, path: "key")) }
            // A program that changes a byte can change the checksum too.
            var checksum: [UInt8] = []
            LittleEndian.append(CRC32C.of(Array(bytes.dropLast(4))), to: &checksum)
            guard offset < bytes.count - 4 else { continue }
            let forged = bytes.dropLast(4) + checksum
            #expect(throws: ProtectionError.self, "byte \(offset)") {
                try Self.keys(MasterKeyFile(decoding: Array(forged), path: "key"))
            }
        }
        #expect(throws: ProtectionError.self) { try MasterKeyFile(decoding: file.encoded + [0], path: "key") }
        for count in 0..<file.encoded.count {
            #expect(throws: ProtectionError.self) {
                try MasterKeyFile(decoding: Array(file.encoded.prefix(count)), path: "")
            }
        }
    }

    @Test("A file of version 2 with a passphrase and one key is damaged")
    func wrongVersion() throws {
        let bytes = try #require(try Self.files().first).encoded
        var changed = Array(bytes[..<8])
        changed.append(2)
        changed += bytes[9..<25]
        changed += [1, 1]
        changed += bytes[25...].dropLast(4)
        LittleEndian.append(CRC32C.of(changed), to: &changed)
        #expect(throws: ProtectionError.damaged(path: "key", detail: "its version is wrong")) {
            try MasterKeyFile(decoding: changed, path: "key")
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
