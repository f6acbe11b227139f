// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import SearchIndex
import SearchlightEngine

struct ListCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the items of the index, in the order of their first donation.")

    @OptionGroup var options: GlobalOptions
    @Option(help: "Show only items of this bundle.", completion: BundleNames.completion)
    var bundle: String?
    @Option(help: "Show only items of the index with this name.")
    var index: String?
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: ListLimit.help("Show at most this many items"),
        transform: ListLimit.items)
    var limit = 100
    @OptionGroup var place: ListPlace
    @OptionGroup var list: NumbersFlag

    func validate() throws {
        try refuseEmpty(bundle, "--bundle")
        try refuseEmpty(index, "--index")
        guard !list.numbers || !options.json else { throw ValidationError("--numbers and --json exclude each other.") }
    }

    func perform() async throws {
        let (page, names, counts, isLocked) = try await options.withStore(.read) {
            store -> (QueryPage, [String: String], [String: Int], Bool) in
            let isLocked = await hasLocked(bundle, in: store)
            if isLocked { Output.complain("Note: \(lockedNote)") }
            // An empty conjunction matches every item.
            let page = try await store.items(
                matching: .and([]), bundle: bundle, index: index, limit: limit, after: place.cursor)
            if page.items.isEmpty { return (page, [:], try await store.perform(ItemCountsCall()), isLocked) }
            let hasNames = !options.json && !list.numbers
            return (page, hasNames ? try await store.displayNames(in: page.items) : [:], [:], isLocked)
        }
        defer { warnOfPending(page.pending) }
        if list.numbers {
            try list.print(page.items)
        } else {
            try ItemList(page: page, attributes: nil, names: names).print(json: options.json)
        }
        if page.items.isEmpty, !options.json {
            if place.after != nil {
                Output.complain("There are no further items.")
            } else if let bundle, counts[bundle] == nil {
                if !isLocked { Output.complain("\(unknownBundle(bundle, among: counts.keys.sorted()))") }
            } else if let index {
                Output.complain("There are no items in an index “\(index)”\(bundle.map { " of \($0)" } ?? "").")
            } else {
                Output.complain("The index has no items.")
            }
        }
    }
}
