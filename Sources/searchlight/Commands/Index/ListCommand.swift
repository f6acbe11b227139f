// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import SearchIndex
import SearchlightEngine

struct ListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the items of the index, in the order in which they were first donated.")

    @OptionGroup var options: GlobalOptions
    @Option(help: "Only items of this bundle.")
    var bundle: String?
    @Option(name: .shortAndLong, help: "Show at most so many items.")
    var limit = 100
    @OptionGroup var place: ListPlace

    func validate() throws {
        guard (1...SearchIndex.maximumPage).contains(limit) else {
            throw ValidationError("--limit must be between 1 and \(SearchIndex.maximumPage).")
        }
    }

    func run() async throws {
        try await reportingErrors(json: options.json) {
            let page = try await options.withStore(.read) { store in
                // A conjunction of nothing holds for every item.
                try await store.items(matching: .and([]), bundle: bundle, limit: limit, after: place.cursor)
            }
            try ItemList(page: page, attributes: nil).print(json: options.json)
            if page.items.isEmpty, !options.json {
                Output.complain(place.after == nil ? "The index has no items." : "No item follows.")
            }
        }
    }
}
