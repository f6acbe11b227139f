// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ItemRecord
import Previews
import SearchIndex
import SearchlightEngine

struct ShowCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Print all data of an item in the index.",
        discussion: "Prints sizes with a unit; --json prints raw attributes, and an array for a list (-).")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var choice: ItemChoice
    @Flag(help: "Print long attributes in full.")
    var full = false

    /// The maximum length of a value without --full, in characters.
    private static let valueLength = 200

    func perform() async throws {
        let names = try ItemNames([choice.item])
        let (found, apps) = try await options.withStore(.read) { store in
            let found = try await names.find(bundle: choice.bundle, index: choice.index, in: store)
            let items = found.compactMap { try? $0.1.get() }
            return (found, options.json ? [:] : try await store.displayNames(in: items))
        }
        var (items, status): ([StoredItem], ExitStatus?) = ([], nil)
        for (name, result) in found {
            switch result {
            case .success(let item): items.append(item)
            case .failure(let error):
                Output.fail("\(name): \(error.description)")
                status = status ?? ExitStatus(error)
            }
        }
        try show(items, apps, isList: names.source != nil)
        if let status { throw ExitCode(status.rawValue) }
    }

    private func show(_ items: [StoredItem], _ apps: [String: String], isList: Bool) throws {
        let reports = items.map(ItemReport.init)
        // A list of items is reported as a JSON array.
        if options.json { return try isList ? Output.printJSON(reports) : Output.printJSON(reports[0]) }
        for (number, (item, report)) in zip(items, reports).enumerated() {
            if number > 0 { try Output.line("") }
            try show(report, app: apps[report.bundle], title: item.displayTitle, traits: item.record.traits)
        }
    }

    private func show(
        _ report: ItemReport, app: String?, title: String, traits: [String: AttributeTraits]
    ) throws {
        try Output.line("\(bold: DisplayText.line(title))")
        var facts: [(String, String)] = [("number", "@\(report.number)")]
        if let app, app != report.bundle { facts.append(("app", DisplayText.line(app))) }
        facts += [("bundle", report.bundle), ("uniqueIdentifier", report.uniqueIdentifier)]
        if let index = report.index { facts.append(("index", index)) }
        if let domain = report.domainIdentifier { facts.append(("domainIdentifier", domain)) }
        facts.append(("donated", report.donated ?? "unknown"))
        facts.append(("expires", report.expires ?? "never"))
        if report.missingTextBytes > 0 {
            facts.append(("in part", "the last \(report.missingTextBytes) bytes of its text are not indexed"))
        }
        let width = (facts.map(\.0) + report.attributes.keys).map(\.count).max() ?? 0
        for (name, value) in facts { try Output.line(line(name, value, width)) }
        try Output.line("")
        for (name, value) in report.attributes.sorted(by: { $0.key < $1.key }) {
            let text = value.line(of: name)
            let isCut = !full && text.count > Self.valueLength
            let shown = isCut ? "\(text.prefix(Self.valueLength))… (\(text.count) characters; --full)" : text
            try Output.line(line(DisplayText.line(name), shown, width, note: traits[name].map { "  (\($0.summary))" }))
        }
    }

    private func line(_ name: String, _ value: String, _ width: Int, note: String? = nil) -> StyledText {
        "  \(dim: name.padded(to: width))  \(value)\(dim: note ?? "")"
    }
}
