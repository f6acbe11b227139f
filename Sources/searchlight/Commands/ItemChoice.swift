// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import SearchIndex
import SearchlightEngine

/// The arguments that identify an item.
struct ItemChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "An item number that “search” prints (@12), a unique identifier, or the path of a file; - reads a list.",
            valueName: "item"))
    var item: String
    @Option(
        help: "Choose the item of this bundle if several bundles have the same identifier.",
        completion: BundleNames.completion)
    var bundle: String?
    @Option(
        help: "Choose the item in the index with this name if several indexes of the bundle have the same identifier.")
    var index: String?

    func validate() throws { try refuseEmpty(index, "--index") }

    /// Returns the item that has a name.
    static func find(
        _ item: String, bundle: String?, in store: any EngineClient
    ) async throws(EngineError) -> StoredItem {
        guard let found = try await find([item], bundle: bundle, index: nil, in: store).first else {
            throw .itemNotFound(item)
        }
        return try found.get()
    }

    /// Returns the items with the given names. Apps that index files use absolute paths as
    /// identifiers; users may specify any form of the path.
    static func find(
        _ names: [String], bundle: String?, index indexName: String?, in store: any EngineClient
    ) async throws(EngineError) -> [Result<StoredItem, EngineError>] {
        var found = try await store.items(named: names, bundle: bundle, index: indexName)
        // Names that are files, with the paths that apps may use as identifiers.
        let missing = names.indices.filter { isNotFound(found[$0]) }
        let paths = missing.map { names[$0] }.map { FileManager.default.fileExists(atPath: $0) ? absolute($0) : nil }
        let resolved = paths.map { path in path.map { URL(filePath: $0).resolvingSymlinksInPath().path } }
        for candidates in [paths, resolved] {
            let tried = zip(missing, candidates).compactMap { index, path in
                path.flatMap { path in path != names[index] && isNotFound(found[index]) ? (index, path) : nil }
            }
            guard !tried.isEmpty else { continue }
            let answers = try await store.items(named: tried.map(\.1), bundle: bundle, index: indexName)
            for ((index, _), answer) in zip(tried, answers) where !isNotFound(answer) { found[index] = answer }
        }
        // Missing items may be locked, or among pending donations.
        if found.contains(where: isNotFound) {
            await warnOfLocked(bundle, in: store)
            warnOfPending(try? await store.perform(PendingCall()))
        }
        return found
    }

    private static func isNotFound(_ result: Result<StoredItem, EngineError>) -> Bool {
        if case .failure(.itemNotFound) = result { true } else { false }
    }
}
