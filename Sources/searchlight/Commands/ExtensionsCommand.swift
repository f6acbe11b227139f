// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import ExtensionHost
import Foundation
import UniformTypeIdentifiers

struct ExtensionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extensions",
        abstract: "List the extensions that are found, and those refused with the reason.",
        discussion: "No extension is loaded for this.")

    @OptionGroup var options: GlobalOptions

    func run() async throws {
        let registry = options.registry
        let diagnostics = registry.registerTypes()
        if options.json { return try Output.printJSON(ExtensionsReport(registry, diagnostics)) }
        for bundle in registry.extensions {
            print("\(bundle.identifier) \(bundle.manifest.version)  \(bundle.manifest.displayName)")
            print("  " + Output.dim(bundle.path))
            for problem in diagnostics[bundle.identifier] ?? [] { print("  Types: \(problem)") }
        }
        if registry.extensions.isEmpty {
            print("No extension is found. Searched:")
            for directory in registry.searchPath { print("  \(directory)") }
        }
        for refusal in registry.refusals {
            print("Refused: \(refusal.path)")
            print("  \(refusal.problem)")
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
