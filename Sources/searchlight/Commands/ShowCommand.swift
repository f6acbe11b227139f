// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import Foundation
import Previews
import SearchIndex
import SearchlightEngine

struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print everything the index knows of an item.")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Flag(help: "Print long attributes in full.")
    var full = false

    /// Longer values are cut without --full, in characters.
    private static let valueLength = 200

    func run() async throws {
        try await searchlight.run(json: options.json) {
            let engine = try options.engine(.readOnly)
            let item = try await engine.item(named: choice.item, bundle: choice.bundle)
            let report = ItemReport(item)
            if options.json { return try Output.printJSON(report) }
            print(Output.bold(DisplayText.line(item.displayTitle)))
            var facts: [(String, String)] = [
                ("number", "@\(report.number)"), ("bundle", report.bundle),
                ("uniqueIdentifier", DisplayText.line(report.uniqueIdentifier)),
            ]
            if let index = report.index { facts.append(("index", DisplayText.line(index))) }
            if let domain = report.domainIdentifier { facts.append(("domainIdentifier", DisplayText.line(domain))) }
            facts.append(("donated", report.donated.formatted(.iso8601)))
            facts.append(("expires", report.expires?.formatted(.iso8601) ?? "never"))
            let width = (facts.map(\.0) + report.attributes.keys).map(\.count).max() ?? 0
            for (name, value) in facts { print(line(name, value, width)) }
            print("")
            for (name, value) in report.attributes.sorted(by: { $0.key < $1.key }) {
                let text = value.line
                let isCut = !full && text.count > Self.valueLength
                let shown = isCut ? "\(text.prefix(Self.valueLength))… (\(text.count) characters; --full)" : text
                print(line(DisplayText.line(name), shown, width))
            }
        }
    }

    private func line(_ name: String, _ value: String, _ width: Int) -> String {
        "  " + Output.dim(name.padding(toLength: max(width, name.count), withPad: " ", startingAt: 0)) + "  " + value
    }
}

/// Which item is meant.
struct ItemChoice: ParsableArguments {
    @Argument(help: "A number as “search” prints it (@12), or the item's unique identifier.")
    var item: String
    @Option(help: "The bundle the item belongs to, if several have one of this name.")
    var bundle: String?
}
