// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Protection
import SearchlightEngine

struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Show or change how the keys of protected items are kept.",
        discussion: """
            Each protected index has a key that encrypts its items, and a master key encrypts these keys. The master \
            key is kept under a passphrase, or with a key in the keyring of the desktop (Secret Service). \
            “passphrase” and “keyring” change this at once, without encrypting items again. “rotate” replaces all \
            keys.
            """,
        subcommands: [
            KeysStatusCommand.self, KeysPassphraseCommand.self, KeysKeyringCommand.self, KeysRotateCommand.self,
        ], defaultSubcommand: KeysStatusCommand.self)
}

struct KeysStatusCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show how the keys are kept, and whether protected items are unlocked.",
        discussion: "Exit status: 0, or 10 if the file of keys is missing or damaged.")

    @OptionGroup var options: GlobalOptions
    /// A subcommand after an option, which is parsed as an argument of this default subcommand.
    @Argument(help: .hidden)
    var misplaced: [String] = []

    func validate() throws {
        guard let word = misplaced.first else { return }
        let names = KeysCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
        guard names.contains(word) else {
            throw ValidationError(
                "There is no command “searchlight keys \(word.prefix(80))”. Use one of \(names.joined(separator: ", "))."
            )
        }
        throw ValidationError("“\(word)” follows an option. Write the subcommand first: searchlight keys \(word)")
    }

    func perform() async throws {
        let status = try await options.withStore(.read) { try await $0.perform(ProtectionStatusCall()) }
        if options.json {
            try Output.printJSON(
                [
                    "keys": status.storage?.rawValue, "problem": status.problemOfKeys, "isUnlocked": status.isUnlocked,
                    "notes": status.notes,
                ] as JSONObject)
        } else {
            try Output.line("\(status.keysLine)")
            if status.hasKeys { try Output.line("Protected items: \(status.isUnlocked ? "unlocked" : "locked")") }
            for note in status.notes { try Output.line("Note: \(Output.tidied(note))") }
        }
        guard status.problemOfKeys == nil else { throw ExitCode(ExitStatus.damageFound.rawValue) }
    }
}

struct KeysPassphraseCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "passphrase", abstract: "Set or change the passphrase.",
        discussion: """
            Asks for the present passphrase, unless the keys are in the keyring, and for the new one twice. The earlier \
            passphrase then opens only earlier copies of the store, such as backups; “searchlight keys rotate” replaces the \
            keys too. A key in the keyring is deleted there, so backups and copies of the store that need it can no longer be \
            opened. Without a terminal, the lines of standard input are the present passphrase, if there is one, and the \
            new one.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        try await changeKeys(options) { .passphrase(try Passphrase.readNew()) }
    }
}

struct KeysKeyringCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "keyring", abstract: "Keep the keys in the keyring of the desktop.",
        discussion: """
            Asks for the present passphrase, if there is one. From then on, “searchlight unlock” needs only the keyring, and \
            the passphrase opens only earlier copies of the store. If the keys are in the keyring already, the key there is \
            replaced, and backups and copies of the store that need it can no longer be opened.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws { try await changeKeys(options) { .keyring } }
}

struct KeysRotateCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace all keys, and encrypt all protected items again.",
        discussion: """
            Unlocks the store. Earlier keys then open only earlier copies of the store. You can interrupt the \
            command: the next unlock completes the rotation. An index with unreadable records keeps its keys.

            Exit status: 0 all keys are new, 1 some keys were not replaced or the passphrase is wrong, 4 no service runs, the \
            session is locked or the keyring has no key. “searchlight --help” lists the others.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let report = try await options.withStore(.read) { store in
            let service = try requireService(store, to: "Keys are replaced in the service")
            return try await service.perform(RotateKeysCall(with: credential(of: service)))
        }
        if options.json {
            try Output.printJSON(
                [
                    "items": report.items, "kept": report.kept, "findings": report.findings, "notes": report.notes,
                ] as JSONObject)
        } else {
            for note in report.kept + report.findings + report.notes {
                Output.complain("Note: \(Output.tidied(note))")
            }
            try Output.line(
                report.kept.isEmpty
                    ? "All keys are new. \(counted(report.items, "protected item")) can be found."
                    : "Some keys were not replaced. \(counted(report.items, "protected item")) can be found.")
        }
        guard report.kept.isEmpty else { throw ExitCode(ExitStatus.failure.rawValue) }
    }
}

/// Changes how the keys are kept, and reports it.
private func changeKeys(_ options: GlobalOptions, to new: () throws -> KeyCredential) async throws {
    let report = try await options.withStore(.read) { store in
        let service = try requireService(store, to: "Keys are changed in the service")
        let credential = try await credential(of: service)
        return try await service.perform(ChangeKeysCall(from: credential, to: try new()))
    }
    if options.json {
        return try Output.printJSON(["keys": report.storage.rawValue, "notes": report.notes] as JSONObject)
    }
    for note in report.notes { Output.complain("Note: \(Output.tidied(note))") }
    try Output.line(
        report.storage == .passphrase
            ? "The passphrase is set. Protected items need it from now on."
            : "The keys are in the keyring of the desktop. Protected items need it from now on.")
}

/// Returns the proof that opens the keys of a store; asks for a passphrase if they have one.
private func credential(of store: any EngineClient) async throws -> KeyCredential {
    let status = try await store.perform(PrepareSecretsCall())
    switch status.storage {
    case .keyring: return .keyring
    case .passphrase: return .passphrase(try Passphrase.read(prompt: "Present passphrase: "))
    case nil:
        guard let problem = status.problemOfKeys else { throw EngineError.protection(.noKeys) }
        throw CommandFailure(message: problem, status: .inputOutput)
    }
}

extension ProtectionStatus {
    /// The way in which the keys are kept, as a line.
    var keysLine: String {
        if let problemOfKeys {
            // The service may still have them in memory.
            let remedy =
                storage == nil ? "none can be read" : "only in memory. To write them: searchlight verify --repair"
            return "Keys: \(remedy). \(Output.tidied(problemOfKeys))"
        }
        return switch storage {
        case .keyring: "Keys: in the keyring of the desktop"
        case .passphrase: "Keys: under a passphrase"
        case nil: "Keys: none. To create them: searchlight unlock"
        }
    }
}
