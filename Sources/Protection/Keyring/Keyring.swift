// SPDX-License-Identifier: Apache-2.0

/// A store for keys outside the folder of a store, such as the keyring of the desktop.
///
/// ```swift
/// let name = KeyringName(vault: file.vault, key: VaultIdentifier(), folder: "/home/anna/store")
/// try await keyring.keep(key, as: name)
/// let found = try await keyring.keys(name)  // the key, perhaps beside keys of other programs
/// ```
package protocol Keyring: Sendable {
    /// Keeps a key, and verifies that it can be read again.
    ///
    /// - Throws: ``ProtectionError/keyring(_:)``.
    func keep(_ key: SecretKey, as name: KeyringName) async throws(ProtectionError)

    /// Returns the keys with a name. Any program of the user may add some, so the caller tries
    /// each.
    ///
    /// - Throws: ``ProtectionError/keyring(_:)``.
    func keys(_ name: KeyringName) async throws(ProtectionError) -> [SecretKey]

    /// Removes the keys with a name. Never asks the user. A key that was kept for another folder
    /// stays, since the store there may be a copy that needs it.
    ///
    /// - Returns: `true` if the keyring has no key left with the same ``KeyringName/vault`` and
    ///   ``KeyringName/key``, for any folder.
    func remove(_ name: KeyringName) async -> Bool
}

/// The name of a key in a keyring.
package struct KeyringName: Hashable, Sendable {
    /// The identifier of the store's keys.
    package var vault: VaultIdentifier
    /// The identifier of the key, so that an earlier key of the store is not replaced.
    package var key: VaultIdentifier
    /// The folder for whose files the key is kept. Copies of a store have the same vault and key.
    package var folder: String

    package init(vault: VaultIdentifier, key: VaultIdentifier, folder: String) {
        (self.vault, self.key, self.folder) = (vault, key, folder)
    }

    /// The text by which the user recognises the key in the keyring.
    package var label: String { "Searchlight: protected items of \(folder)" }
}

/// A reason why a keyring does not keep or give a key.
package enum KeyringProblem: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// No keyring can be reached. The text says why.
    case unavailable(String)
    /// The user dismissed the question of the keyring, or the keyring could not ask.
    case dismissed
    /// The keyring did not answer in time.
    case timedOut(seconds: Int)
    /// The keyring has no key of this store.
    case missingKey
    /// The keyring cannot encrypt what it sends.
    case unencrypted
    /// The keyring answered with an error.
    case refused(String)
    /// The keyring sent an invalid answer.
    case malformed(String)

    package var description: String {
        switch self {
        case .unavailable(let reason): "No keyring can be reached: \(reason)"
        case .dismissed:
            """
            The keyring was not unlocked: its question was dismissed, or it cannot ask here. Try again on the desktop. For \
            new keys, a passphrase works everywhere: searchlight unlock --passphrase
            """
        case .timedOut(let seconds):
            "The keyring did not answer within \(seconds) seconds. Answer its question, or restart it, and try again."
        case .missingKey:
            """
            The keyring has no key of this store, so its protected items cannot be read. Restore the keyring from a backup. \
            Or remove the items (searchlight forget), unlock again, and let their apps donate again.
            """
        case .unencrypted:
            """
            The keyring cannot encrypt the keys that it sends over the bus, so it is not used. For new keys, use a passphrase: \
            searchlight unlock --passphrase
            """
        case .refused(let message): "The keyring refused the request: \(message)"
        case .malformed(let detail):
            "The keyring sent an invalid answer: \(detail). Restart the keyring, and try again."
        }
    }
}
