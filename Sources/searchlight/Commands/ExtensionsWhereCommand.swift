// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import Foundation
import SearchlightEngine

struct ExtensionsWhereCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "where",
        abstract: "Show the folders that are searched for extensions, and the folder for your own.",
        discussion: """
            If several extensions have the same identifier, the first folder wins. A service watches the folders: a bundle \
            that is added, replaced or removed takes effect at once.
            """)

    @OptionGroup var options: GlobalOptions
    @Flag(help: "Create the folder for your own extensions if it does not exist.")
    var create = false

    func perform() async throws {
        let folder = options.userExtensionFolder
        if create {
            guard !folder.isEmpty else {
                throw CommandFailure(
                    message:
                        "The folder for your own extensions is unknown. Set HOME or XDG_DATA_HOME.",
                    status: .failure)
            }
            try NewFolder.make(folder)
        }
        let places = try await places()
        if options.json { return try Output.printJSON(["folder": folder, "places": places] as JSONObject) }
        for place in places {
            var notes = [place.exists ? counted(place.bundles, "bundle") : "does not exist"]
            if place.isWatched { notes.append("watched") }
            try Output.line("\(place.path)  \(dim: notes.joined(separator: ", "))")
            if let problem = place.problem { try Output.line("  \(Output.tidied(problem))") }
        }
        guard !folder.isEmpty else { return }
        try Output.line("For your own: \(folder)")
        if !places.contains(where: { $0.path == folder }) {
            try Output.line("  The service does not search this folder. Start it with the same XDG_DATA_HOME.")
        } else if !FileManager.default.fileExists(atPath: folder) {
            try Output.line("  To create it: searchlight extensions where --create")
        }
    }

    private func places() async throws -> [ExtensionPlace] {
        do {
            return try await options.withStore(.read) { try await $0.perform(ExtensionPlacesCall()) }
        } catch EngineError.index(.noStore) {
            return options.registry.places(areWatched: false)
        }
    }
}
