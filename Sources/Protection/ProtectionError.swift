// SPDX-License-Identifier: Apache-2.0
import WriteAheadLog

/// An error of protected data.
package enum ProtectionError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The keys are not in memory.
    case locked
    /// The store has no keys yet.
    case noKeys
    /// The store has protected indexes, and the file of their keys is missing.
    case missingKeys(path: String)
    /// Another program removed or replaced a file while it was open.
    case replaced(path: String)
    /// Another program put a file into the store while it was unlocked.
    case appeared(path: String)
    /// The file of keys belongs to another store.
    case foreignKeys(path: String)
    /// The passphrase is not the passphrase of the keys.
    case wrongPassphrase
    /// The keys are kept in another way than the request assumes.
    case otherStorage(KeyStorage)
    /// The keyring does not keep or give the key.
    case keyring(KeyringProblem)
    /// The user's session is locked, so nothing is unlocked.
    case sessionLocked
    /// The passphrase is empty or too long.
    case unusablePassphrase(limit: Int)
    /// A file is damaged, or another program changed it.
    case damaged(path: String, detail: String)
    /// A later version of this program wrote the file.
    case newerFormat(path: String)
    /// The store has too many protected indexes.
    case tooManyIndexes(limit: Int)
    /// The index already has items without protection.
    case unprotectedItems(index: String)
    /// The donor requests the class `complete` for an index with a weaker class.
    case weakerClass(index: String)
    /// The protected items need more memory than the limit, in bytes.
    case tooMuchMemory(limit: Int)
    /// A record exceeds the limit, in bytes.
    case tooLarge(bytes: Int, limit: Int)
    /// The system has no memory for the keys or for the derivation of a key.
    case noMemory
    /// A file cannot be read or written.
    case file(String)

    package init(_ error: LogFileError) { self = .file(error.description) }

    package var description: String {
        switch self {
        case .locked: "Protected items are locked. Run: searchlight unlock"
        case .noKeys: "The store has no keys yet. To create them: searchlight unlock"
        case .missingKeys(let path):
            """
            \(path) is missing. Without it, nobody can read the protected items. Restore it from a backup, or give the \
            items up: searchlight forget BUNDLE
            """
        case .replaced(let path):
            """
            Another program removed or replaced \(path) while the service ran, so no items are accepted. To use the file \
            that is there: searchlight lock, then searchlight unlock. To replace it from memory: searchlight verify --repair
            """
        case .appeared(let path):
            """
            Another program put \(path) there while the store was unlocked, so no items are accepted for its index. To read \
            it: searchlight lock, then searchlight unlock
            """
        case .foreignKeys(let path):
            """
            \(path) belongs to another store, so no items are accepted. The service still has the right keys. To write \
            them there: searchlight verify --repair
            """
        case .wrongPassphrase: "The passphrase is wrong."
        case .otherStorage(.keyring):
            """
            The keys are in the keyring, not under a passphrase. Unlock with: searchlight unlock. To use a passphrase from \
            now on: searchlight keys passphrase
            """
        case .otherStorage(.passphrase):
            "The keys are under a passphrase, not in the keyring. To move them there: searchlight keys keyring"
        case .keyring(let problem): problem.description
        case .sessionLocked:
            "The session is locked, so protected items stay locked. Unlock the screen, then: searchlight unlock"
        case .unusablePassphrase(let limit): "A passphrase must have 1 to \(limit) bytes."
        case .damaged(let path, let detail):
            "\(path) is damaged: \(detail). Restore it from a backup. Without one, the items that need it are lost."
        case .newerFormat(let path): "A later version of Searchlight wrote \(path). Install that version."
        case .tooLarge(let bytes, let limit):
            "A donation has \(bytes) bytes; the limit is \(limit). Send smaller parts."
        case .tooManyIndexes(let limit):
            "The store has \(limit) protected indexes, the limit. Use an index for several kinds of items."
        case .tooMuchMemory(let limit):
            """
            Protected items need more than \(limit >> 20) MiB of memory, the limit. Delete some, or donate less protected \
            text.
            """
        case .unprotectedItems(let index):
            "\(index) has items without protection. Delete all items of the index, then donate them again."
        case .weakerClass(let index):
            """
            \(index) has the class completeUnlessOpen, which is weaker than complete. Donate with its class, or remove \
            the app's items (searchlight forget) and donate them again.
            """
        case .noMemory: "The system has no memory for encryption keys. Close other programs and try again."
        case .file(let message): message
        }
    }
}
