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
            Apps protect an index with the classes completeUnlessOpen and complete. Its items are encrypted, and only an \
            unlocked service finds them. The first unlock sets the passphrase and asks for it twice. Nobody can restore \
            a lost passphrase, nor the items.

            The service keeps the keys in its memory until “searchlight lock”, or until it ends. Without a \
            terminal, the passphrase is the first line of standard input.

            Exit status: 0 unlocked, 1 the passphrase is wrong, 4 no service runs, 64 wrong usage. \
            “searchlight --help” lists the others.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        try await options.withStore(.read) { store in
            guard store is RemoteEngine else {
                throw CommandFailure(
                    message: """
                        Protected items are unlocked in the service, and no service runs. Start it: systemctl --user start \
                        searchlightd.service, or run searchlightd
                        """, status: .refused)
            }
            try await unlock(store)
        }
    }

    private func unlock(_ store: any EngineClient) async throws {
        let isNew = try await !store.perform(ProtectionStatusCall()).hasKeys
        let passphrase = try Passphrase.read(prompt: isNew ? "New passphrase: " : "Passphrase: ")
        if isNew, Passphrase.isAsked {
            guard try Passphrase.read(prompt: "The same again: ") == passphrase else {
                throw CommandFailure(message: "The passphrases differ. Nothing was changed.", status: .failure)
            }
        }
        let report = try await store.perform(UnlockCall(passphrase: passphrase, creates: isNew))
        if options.json {
            return try Output.printJSON(["items": report.items, "findings": report.findings] as JSONObject)
        }
        for finding in report.findings { Output.complain("Note: \(finding)") }
        if report.hasCreatedKeys { try Output.line("The passphrase is set. Protected items need it from now on.") }
        try Output.line("Unlocked: \(counted(report.items, "protected item")) can be found.")
    }
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

/// A passphrase from the terminal or from standard input.
private enum Passphrase {
    /// `true` if the user is asked on a terminal.
    static var isAsked: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads a passphrase. A terminal does not show it.
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
