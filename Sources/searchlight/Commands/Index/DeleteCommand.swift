// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ItemRecord
import SearchIndex
import SearchlightEngine

struct DeleteCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete items from the index.",
        discussion: """
            Deletes by identifier, by domain (notes includes notes.work), or everything with the client state. Succeeds if \
            there is nothing to delete. Write an identifier or a domain that begins with a dash as --identifiers=-name, and \
            repeat the option for each.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: IndexChoice
    @Option(
        parsing: .upToNextOption, help: ArgumentHelp("Delete the items with these unique identifiers.", valueName: "id")
    )
    var identifiers: [String] = []
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Delete the items of these domains.", valueName: "domain"))
    var domains: [String] = []
    @Flag(help: "Delete everything in the index, including the client state.")
    var all = false

    func validate() throws {
        switch [!identifiers.isEmpty, !domains.isEmpty, all].count(where: { $0 }) {
        case 0: throw ValidationError("Nothing to delete is named. Pass one of --identifiers, --domains and --all.")
        case 1: break
        default: throw ValidationError("--identifiers, --domains and --all exclude each other. Pass one of them.")
        }
        if (identifiers + domains).contains("") { throw ValidationError("A name is empty. Leave it out.") }
    }

    func perform() async throws {
        try await options.withStore(.changeExisting) { store in try await delete(store) }
    }

    private func delete(_ store: any EngineClient) async throws {
        var batch = IndexBatch(scope: choice.scope)
        if all { batch.deleteAll() }
        batch.delete(identifiers: identifiers)
        batch.delete(domains: domains)
        let before = try await store.perform(ItemCountsCall())[choice.bundle] ?? 0
        try await store.commit(batch)
        let after = try await store.perform(ItemCountsCall())[choice.bundle] ?? 0
        let status = try? await store.perform(ProtectionStatusCall())
        if let status, !status.isUnlocked, status.indexes.contains(where: { $0.scope == choice.scope }) {
            // The deletion is appended to the encrypted file.
            if options.json { return try Output.printJSON(["deleted": nil, "isLocked": true] as JSONObject) }
            return try Output.line("The index is locked, so the items are deleted at the next unlock.")
        }
        let deleted = max(0, before - after)
        if options.json { return try Output.printJSON(["deleted": deleted]) }
        try Output.line("\(counted(deleted, "item")) deleted.")
    }
}
