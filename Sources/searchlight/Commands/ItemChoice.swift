// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import SearchIndex
import SearchlightEngine

/// Which item is meant.
struct ItemChoice: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "A number as “search” prints it (@12), or the item's unique identifier; for items that are files also a path; - reads a list.",
            valueName: "item"))
    var item: String
    @Option(
        help: "The bundle the item belongs to, if several have one of this name.", completion: BundleNames.completion)
    var bundle: String?

    /// The item in an index. Apps that index files call the item by its absolute path, people by any path.
    static func find(
        _ item: String, bundle: String?, in store: any StoreService
    ) async throws(EngineError) -> StoredItem {
        do throws(EngineError) { return try await lookUp(item, bundle: bundle, in: store) } catch {
            // It may be among what was donated a moment ago.
            if case .itemNotFound = error { warnOfPending(try? await store.pendingDonations()) }
            throw error
        }
    }

    private static func lookUp(
        _ item: String, bundle: String?, in store: any StoreService
    ) async throws(EngineError) -> StoredItem {
        do throws(EngineError) {
            return try await store.item(named: item, bundle: bundle)
        } catch {
            guard case .itemNotFound = error, FileManager.default.fileExists(atPath: item) else {
                throw error
            }
            let path = absolute(item)
            for candidate in [path, URL(filePath: path).resolvingSymlinksInPath().path] where candidate != item {
                do throws(EngineError) {
                    return try await store.item(named: candidate, bundle: bundle)
                } catch {
                    guard case .itemNotFound = error else { throw error }
                }
            }
            throw error
        }
    }
}
