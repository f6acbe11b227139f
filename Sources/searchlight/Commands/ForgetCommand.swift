// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import AssistantServer
import CommandSupport
import SearchlightEngine

struct ForgetCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "forget", abstract: "Remove all data of an app from the index.",
        discussion: """
            Removes the app's items, their use counts, the log entries of assistants about them, its client states and its pending reindexes. Asks first, unless \
            --yes is given. An installed extension donates all items again at its next reindex; disable or remove it first \
            to prevent that.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "The bundle identifier of the app.", completion: BundleNames.completion)
    var bundle: String
    @Flag(help: "Do not ask.")
    var yes = false

    func validate() throws {
        try refuseEmpty(bundle, "The name of the app", instead: "“searchlight status” lists the apps.")
    }

    func perform() async throws {
        try await options.withStore(.changeExisting) { store in try await forget(store) }
    }

    private func forget(_ store: any EngineClient) async throws {
        let counts = try await store.perform(ItemCountsCall())
        let owes = try await store.perform(PendingReindexesCall()).contains { $0.bundle == bundle }
        let isProtected = try await store.perform(ProtectionStatusCall()).indexes.contains { $0.scope.bundle == bundle }
        if counts[bundle] == nil, !owes, !isProtected {
            guard try await isGone(in: store) else {
                throw CommandFailure(message: unknownBundle(bundle, among: counts.keys.sorted()), status: .notFound)
            }
        }
        let what = "\(counted(counts[bundle] ?? 0, "item")) of \(bundle), its client states and its pending reindexes"
        if !yes { try Confirmation.ask("remove", what, json: options.json) }
        let deleted = try await store.perform(ForgetCall(bundle: bundle))
        do throws(AssistantFileError) { try AssistantLog(store: options.storeDirectory).clear(bundle: bundle) } catch {
            Output.complain("Note: \(error.description)")
        }
        if options.json { return try Output.printJSON(["bundle": bundle, "deleted": deleted] as JSONObject) }
        try Output.line("\(bundle) is forgotten: \(counted(deleted, "item")) deleted.")
    }

    /// Returns `true` if the bundle is a removed extension, according to the listing.
    private func isGone(in store: any EngineClient) async throws -> Bool {
        try await store.perform(ExtensionListingCall()).removals.contains { $0.bundle == bundle }
    }
}
