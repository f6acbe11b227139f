// SPDX-License-Identifier: Apache-2.0
import SystemSupport
import TestSupport
import Testing

@testable import Protection

@Suite("Hostile files of keys, and answers of keyrings")
struct HostileKeyTests {
    private struct Broken: Error {}

    @Test("A file of keys with the right checksum is read or rejected, and is the same after it was read")
    func keyFiles() throws {
        let key = try SecretKey()
        let vault = VaultIdentifier()
        let (least, wrapping) = (MasterKeyFile.Cost.least, try SecretKey())
        let (passphrase, _) = try MasterKeyFile.create(passphrase: Array("correct horse".utf8), cost: least)
        let keyring = try MasterKeyFile(vault: vault, key, keyringKey: wrapping, identifier: VaultIdentifier())
        var loop = MutationLoop(
            seed: MutationLoop.seed, corpus: [passphrase, keyring].map { Array($0.encoded.dropLast(4)) })
        let accepted = try loop.run(MutationLoop.inputs) { bytes in
            let checksum = CRC32C.of(bytes)
            let whole = bytes + (0..<4).map { UInt8(truncatingIfNeeded: checksum >> (8 * $0)) }
            guard let file = try? MasterKeyFile(decoding: whole, path: "key") else { return false }
            guard file.encoded == whole else { throw Broken() }
            // No changed file opens with the key; the cost of a passphrase is not spent here.
            if case .keyring = file.storage, file != keyring {
                guard (try? file.keys(keyringKeys: [wrapping])) == nil else { throw Broken() }
            }
            return true
        }
        #expect(accepted > 0, "seed \(MutationLoop.seed)")
    }

    @Test("A public key of a keyring is rejected or makes a session, and no changed secret is a key")
    func keyrings() throws {
        let (one, other) = (try KeyExchange(), try KeyExchange())
        let sender = try #require(try one.cipher(with: other.publicKey))
        let receiver = try #require(try other.cipher(with: one.publicKey))
        let secret = try SecretKey()
        let sealed = try sender.seal(secret)
        // An exponentiation takes a millisecond.
        var keys = MutationLoop(seed: MutationLoop.seed, corpus: [one.publicKey, [], KeyExchange.primeBytes])
        let sessions = try keys.run(MutationLoop.inputs / 20) { bytes in
            guard let cipher = try other.cipher(with: bytes) else { return false }
            let opened = try cipher.open(sealed)
            guard try opened == nil || opened?.isSame(as: secret) == false || bytes == one.publicKey else {
                throw Broken()
            }
            return true
        }
        #expect(sessions > 0)
        var answers = MutationLoop(seed: MutationLoop.seed, corpus: [sealed.parameters + sealed.value])
        _ = try answers.run(MutationLoop.inputs) { bytes in
            let answer = SessionCipher.Sealed(parameters: Array(bytes.prefix(16)), value: Array(bytes.dropFirst(16)))
            return try receiver.open(answer) != nil
        }
    }
}
