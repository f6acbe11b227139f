// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import UniformTypeIdentifiers

struct ExtensionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extensions",
        abstract: "List the extensions that are found, and those refused with the reason.",
        discussion: "No extension is loaded for this.")

    @OptionGroup var options: GlobalOptions

    func run() throws {
        try reportingErrors(json: options.json) {
            let registry = options.registry
            let diagnostics = registry.registerTypes()
            if options.json { return try Output.printJSON(ExtensionsReport(registry, diagnostics)) }
            for bundle in registry.extensions {
                try Output.line("\(bundle.identifier) \(bundle.manifest.version)  \(bundle.manifest.displayName)")
                try Output.line("  \(dim: bundle.path)")
                for problem in diagnostics[bundle.identifier] ?? [] { try Output.line("  Types: \(problem)") }
            }
            if registry.extensions.isEmpty {
                try Output.line("No extension is found. Searched:")
                for directory in registry.searchPath { try Output.line("  \(directory)") }
            }
            for refusal in registry.refusals {
                try Output.line("Refused: \(refusal.path)")
                try Output.line("  \(Output.tidied(refusal.problem.description))")
            }
        }
    }
}

private struct ExtensionsReport: Encodable {
    struct Found: Encodable {
        var identifier: String
        var version: String
        var displayName: String
        var path: String
        var typeDiagnostics: [String]
    }
    struct Refused: Encodable {
        var path: String
        var reason: String
    }
    var searchPath: [String]
    var extensions: [Found]
    var refused: [Refused]

    init(_ registry: ExtensionRegistry, _ diagnostics: [String: [UTTypeDiagnostic]]) {
        searchPath = registry.searchPath
        extensions = registry.extensions.map {
            Found(
                identifier: $0.identifier, version: $0.manifest.version, displayName: $0.manifest.displayName,
                path: $0.path, typeDiagnostics: (diagnostics[$0.identifier] ?? []).map(\.description))
        }
        refused = registry.refusals.map { Refused(path: $0.path, reason: $0.problem.description) }
    }
}
