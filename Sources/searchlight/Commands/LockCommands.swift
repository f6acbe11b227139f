// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Glibc
import Protection
import SearchlightEngine

struct UnlockCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "unlock", abstract: "Make protected items searchable.",
        discussion: """
            Apps protect an index with the classes completeUnlessOpen and complete. Its items are encrypted, and \
            only an unlocked service finds them. The first unlock creates the keys. The desktop's keyring (Secret \
            Service, such as GNOME Keyring) keeps them; your login usually opens the keyring. Without a keyring, or \
            with --passphrase, a passphrase protects them; the command asks for it twice. If the keyring or the \
            passphrase is lost, the items are lost too. If no protected index is left, --passphrase sets a new one. \
            “searchlight keys” shows how the keys are kept, and changes it.

            The service keeps the keys in its memory until “searchlight lock”, until the session is locked or the machine \
            sleeps, or until it ends. While the session is locked, nothing is unlocked. Without a terminal, the passphrase is \
            the first line of standard input.

            Exit status: 0 unlocked, 1 the passphrase is wrong, 4 no service runs, the session is locked or the keyring has \
            no key, 5 the keyring was not unlocked, 6 the keyring did not answer, 64 wrong usage. “searchlight --help” lists \
            the others.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Protect new keys with a passphrase, not with the keyring.")
    var passphrase = false

    func perform() async throws {
        let purpose = "Protected items are unlocked in the service"
        do {
            let report = try await options.withStore(.read) { store in
                try await unlock(try requireService(store, to: purpose))
            }
            try show(report)
        } catch EngineError.index(.noStore) {
            // The service creates the store when it starts.
            throw noService(for: purpose)
        }
    }

    private func unlock(_ store: any EngineClient) async throws -> (UnlockReport, KeyStorage) {
        let status = try await store.perform(PrepareSecretsCall())
        let storage = status.storage
        if storage == .keyring || storage == nil, !passphrase {
            do throws(EngineError) {
                return (try await store.perform(UnlockCall(with: .keyring, creates: true)), .keyring)
            } catch {
                guard storage == nil, case .protection(.keyring(.unavailable(let reason))) = error else { throw error }
                Output.complain("Note: No keyring can be reached, so a passphrase protects the keys: \(reason)")
            }
        }
        // Without indexes, nothing is lost with a forgotten passphrase or a lost keyring.
        if storage != nil, passphrase, status.indexes.isEmpty, status.findings.isEmpty {
            // Keys in use are not replaced.
            _ = try await store.perform(LockCall())
            Output.complain("Note: The store has no protected indexes, so a new passphrase replaces its keys.")
            let call = UnlockCall(passphrase: try Passphrase.readNew(), creates: true)
            return (try await store.perform(call), .passphrase)
        }
        if storage == .keyring { throw EngineError.protection(.otherStorage(.keyring)) }
        let entered = storage == nil ? try Passphrase.readNew() : try Passphrase.read(prompt: "Passphrase: ")
        let call = UnlockCall(passphrase: entered, creates: storage == nil)
        do throws(EngineError) { return (try await store.perform(call), .passphrase) } catch {
            if error == .protection(.wrongPassphrase), status.indexes.isEmpty, status.findings.isEmpty {
                Output.complain(
                    "Note: The store has no protected indexes. To set a new passphrase: searchlight unlock --passphrase"
                )
            }
            throw error
        }
    }

    private func show(_ outcome: (report: UnlockReport, storage: KeyStorage)) throws {
        let (report, storage) = outcome
        if options.json {
            return try Output.printJSON(
                [
                    "items": report.items, "findings": report.findings, "notes": report.notes,
                    "keys": storage.rawValue, "hasCreatedKeys": report.hasCreatedKeys,
                    "memoryBytes": report.memory?.bytes, "memoryLimit": report.memory?.limit,
                ] as JSONObject)
        }
        for note in report.findings + report.notes { Output.complain("Note: \(Output.tidied(note))") }
        if report.hasCreatedKeys {
            try Output.line(
                storage == .passphrase
                    ? "The passphrase is set. Protected items need it from now on."
                    : "New keys are in the keyring of the desktop. Protected items need it from now on.")
        }
        let memory = report.memory.map { ", in \(max($0.bytes >> 20, 1)) of at most \($0.limit >> 20) MiB of memory" }
        try Output.line("Unlocked: \(counted(report.items, "protected item")) can be found\(memory ?? "").")
    }
}

/// Returns the service of a store.
///
/// - Throws: A failure if no service runs.
func requireService(_ store: any EngineClient, to purpose: String) throws -> any EngineClient {
    guard store is RemoteEngine else { throw noService(for: purpose) }
    return store
}

private func noService(for purpose: String) -> CommandFailure {
    CommandFailure(
        message: """
            \(purpose), and no service runs. Start it, then repeat this command: systemctl --user start \
            searchlightd.service, or run searchlightd
            """, status: .refused)
}

struct LockCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "lock", abstract: "Lock protected items.",
        discussion: """
            The service overwrites the keys of protected indexes and drops their items from its memory. “searchlight unlock” \
            makes them searchable again.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let wasUnlocked = try await options.withStore(.read) { store in try await store.perform(LockCall()) }
        if options.json { return try Output.printJSON(["wasUnlocked": wasUnlocked] as JSONObject) }
        try Output.line(wasUnlocked ? "Locked." : "Protected items are locked already.")
    }
}

/// Reads a passphrase from the terminal or from standard input.
enum Passphrase {
    /// `true` if the user enters it at a terminal.
    static var isAsked: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads a new passphrase. On a terminal, it is typed twice.
    static func readNew() throws -> [UInt8] {
        let passphrase = try read(prompt: "New passphrase: ")
        guard isAsked else { return passphrase }
        guard try read(prompt: "The same again: ") == passphrase else {
            throw CommandFailure(message: "The passphrases differ. Nothing was changed.", status: .failure)
        }
        return passphrase
    }

    /// Reads a passphrase. A terminal does not display it.
    static func read(prompt: String) throws -> [UInt8] {
        var shown = termios()
        let isTerminal = isAsked && tcgetattr(STDIN_FILENO, &shown) == 0
        if isTerminal {
            var hidden = shown
            hidden.c_lflag &= ~tcflag_t(ECHO)
            FileHandle.standardError.write(Data(prompt.utf8))
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
        }
        defer {
            if isTerminal {
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
                FileHandle.standardError.write(Data("\n".utf8))
            }
        }
        guard let line = readLine(strippingNewline: true), !line.isEmpty,
            line.utf8.count <= MasterKeyFile.maximumPassphraseBytes
        else {
            throw CommandFailure(
                message: "A passphrase has 1 to \(MasterKeyFile.maximumPassphraseBytes) bytes. Nothing was changed.",
                status: .usage)
        }
        return Array(line.utf8)
    }
}
