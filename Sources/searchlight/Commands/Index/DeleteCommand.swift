// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ItemRecord
import SearchIndex
import SearchlightEngine

struct DeleteCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Take items out of the index.",
        discussion: """
            By identifier, by domain (notes takes notes.work along) or all, the client state included. That there is \
            nothing to delete is no failure. An identifier or a domain that begins with a dash is given as --identifiers=-name, each \
            with an option of its own.
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: IndexChoice
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Unique identifiers of items.", valueName: "id"))
    var identifiers: [String] = []
    @Option(parsing: .upToNextOption, help: ArgumentHelp("Domains.", valueName: "domain"))
    var domains: [String] = []
    @Flag(help: "Everything in the index, the client state included.")
    var all = false

    func validate() throws {
        guard [!identifiers.isEmpty, !domains.isEmpty, all].count(where: { $0 }) == 1 else {
            throw ValidationError("Say what to delete: one of --identifiers, --domains and --all.")
        }
        if (identifiers + domains).contains("") { throw ValidationError("An empty name means nothing. Leave it out.") }
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
        let deleted = max(0, before - after)
        if options.json { return try Output.printJSON(["deleted": deleted]) }
        try Output.line("\(counted(deleted, "item")) deleted.")
    }
}
