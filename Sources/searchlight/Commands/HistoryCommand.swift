// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import Glibc
import Previews
import Promises
import SearchIndex
import SearchlightEngine

struct HistoryCommand: OptionedCommand {
    /// The action to perform.
    enum Wish: String, ExpressibleByArgument, CaseIterable {
        case on
        case off
    }
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show, export or erase the counts of your use of items.",
        discussion: """
            Searchlight counts each item that you open, drag or preview for some seconds, together with the search text. \
            Later searches rank such items higher. The counts halve every 30 days and never leave the store. Deleting an item, \
            its expiration and “searchlight forget” delete its counts.

            --clear erases all counts, including their traces in the pages of the database. --export writes a file that \
            only you can read. Both ask before they remove or replace data, unless --yes is given. “off” stops counting \
            and ignores the counts; they are kept until they are erased, and “on” uses them again.

            Without arguments each item has a line with its number, the number of uses and the last use, and a line for each \
            search text. --json adds the current weight of each count (0 to 16).
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(help: "on or off: start or stop counting.")
    var wish: Wish?
    @Flag(help: "Erase all counts.")
    var clear = false
    @Option(
        help: ArgumentHelp(
            "Write all counts to a file, as JSON; - is standard output.", valueName: "file"),
        completion: .file())
    var export: String?
    @Option(
        name: .shortAndLong, parsing: .unconditional, help: ListLimit.help("Show at most this many items"),
        transform: ListLimit.items)
    var limit = 50
    @Flag(help: "Do not ask.")
    var yes = false

    /// A limit that exceeds the maximum number of stored entries.
    private static let everything = 100_000

    func validate() throws {
        try refuseEmpty(export, "--export", instead: "Name a file, or - for standard output.")
        guard [wish != nil, clear, export != nil].count(where: { $0 }) <= 1 else {
            throw ValidationError("Choose one of on, off, --clear and --export.")
        }
        guard !yes || clear || export != nil else { throw ValidationError("--yes goes with --clear and --export.") }
        guard export != "-" || !options.json else {
            throw ValidationError("--export writes JSON. Leave out --json.")
        }
    }

    func perform() async throws {
        if let wish {
            try await options.withStore(.change) { store in try await set(wish == .on, in: store) }
        } else if clear {
            try await options.withStore(.changeExisting) { store in try await erase(store) }
        } else if let export {
            let history = try await options.withStore(.read) { try await $0.history(limit: Self.everything) }
            try write(history, to: export)
        } else {
            try show(try await options.withStore(.read) { try await $0.history(limit: limit) })
        }
    }

    // MARK: Changing

    private func set(_ isOn: Bool, in store: any EngineClient) async throws {
        let isChange = try await store.perform(SetLearningCall(isOn: isOn))
        if options.json { return try Output.printJSON(["isOn": isOn, "isChanged": isChange] as JSONObject) }
        let state = isOn ? "Use of items is counted" : "Use of items is not counted"
        try Output.line("\(state)\(isChange ? " from now on" : "; nothing changed").")
        guard !isOn, try await store.history(limit: 1).total > 0 else { return }
        Output.complain("Existing counts are kept and have no effect. To erase them: searchlight history --clear")
    }

    private func erase(_ store: any EngineClient) async throws {
        let count = try await store.history(limit: 1).items
        if count > 0, !yes {
            try Confirmation.ask("remove", "the counts of \(counted(count, "item"))", json: options.json)
        }
        let erased = try await store.perform(ClearHistoryCall())
        if options.json { return try Output.printJSON(["erased": erased]) }
        try Output.line(
            erased == 0
                ? "There are no counts to erase."
                : "Erased the counts of \(counted(erased, "item")).")
    }

    // MARK: Showing

    private func write(_ history: EngagementHistory, to file: String) throws {
        let report = JSONObject(history)
        if file == "-" { return try Output.printJSON(report) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = Array(try encoder.encode(report)) + [UInt8(ascii: "\n")]
        let path = absolute(file)
        // Only the user may read the texts that were typed.
        umask(0o077)
        try prepare(path)
        do throws(PromiseError) {
            _ = try Delivery.deliver(
                .data(.inline(bytes)), to: .file(path: path), token: .random(in: .min ... .max))
        } catch {
            throw CommandFailure(message: "\(error) No file was written.", status: ExitStatus(error))
        }
        if options.json { return try Output.printJSON(["path": path, "items": history.items] as JSONObject) }
        try Output.line("\(path): \(counted(history.items, "item"))")
    }

    /// Asks before replacing a file, and revokes other users' permissions on it.
    private func prepare(_ path: String) throws {
        var status = stat()
        // Pipes and devices are written to as they are; a folder is rejected later.
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if !yes { try Confirmation.ask("replace", "the file \(path)", json: options.json) }
        guard status.st_uid == geteuid(), chmod(path, 0o600) == 0 else {
            throw CommandFailure(
                message: "The file \(path) belongs to another user, who could read it. Name another file.",
                status: .refused)
        }
    }

    private func show(_ history: EngagementHistory) throws {
        if options.json { return try Output.printJSON(JSONObject(history)) }
        defer {
            if !history.isOn {
                Output.complain(
                    "Learning is off: nothing is counted, and counts have no effect. To switch it on: searchlight history on"
                )
            }
        }
        guard !history.entries.isEmpty else {
            return Output.complain(
                history.isOn
                    ? "There are no counts yet. Items that you open, drag or preview for some seconds are counted."
                    : "There are no counts.")
        }
        let widths = history.entries.reduce(into: (number: 4, events: 5)) { widths, entry in
            widths.number = max(widths.number, "@\(entry.item)".count)
            widths.events = max(widths.events, "\(entry.total.events)".count)
        }
        func line(_ number: String, _ events: String, _ last: String, _ what: StyledText) throws {
            let number = number.padded(to: widths.number)
            let events = String(repeating: " ", count: max(0, widths.events - events.count)) + events
            try Output.line("\(dim: "\(number)  \(events)  \(last)")  " + what)
        }
        try line("item", "times", "last            ", "\(dim: "title, and the search text")")
        for entry in history.entries {
            let reporter: StyledText = entry.reporter == .app ? "\(dim: "  (reported by \(entry.bundle))")" : ""
            try line(
                "@\(entry.item)", "\(entry.total.events)", Self.time(entry.total.last),
                "\(bold: DisplayText.line(entry.title, limit: shownTitleLength))" + reporter)
            for text in entry.texts {
                try line(
                    "", "\(text.count.events)", Self.time(text.count.last), "“\(DisplayText.line(text.typed))”")
            }
        }
        if history.entries.count < history.total {
            let shown = Set(history.entries.map(\.item)).count
            try Output.line("\(dim: "\(shown) of \(counted(history.items, "item")); --limit shows more")")
        }
    }

    /// Returns a time in the local time zone, in 16 characters.
    private static func time(_ moment: Double) -> String {
        guard DisplayText.moment(moment) != nil else { return "at no time      " }
        let style = Date.VerbatimFormatStyle(
            format: """
                \(year: .padded(4))-\(month: .twoDigits)-\(day: .twoDigits) \
                \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits)
                """, timeZone: .current, calendar: Calendar(identifier: .gregorian))
        return Date(timeIntervalSinceReferenceDate: moment).formatted(style)
    }
}

extension JSONObject {
    fileprivate init(_ history: EngagementHistory) {
        self = [
            "isOn": history.isOn, "total": history.total,
            "items": history.entries.map { entry in
                ([
                    "number": entry.item, "bundle": entry.bundle, "uniqueIdentifier": entry.uniqueIdentifier,
                    "title": entry.title, "reporter": entry.reporter.rawValue,
                    "texts": entry.texts.map { (["text": $0.typed] as JSONObject).adding(Self.fields($0.count)) },
                ] as JSONObject).adding(Self.fields(entry.total))
            },
        ]
    }

    private static func fields(_ count: EngagementHistory.Count) -> [(String, any Encodable)] {
        [("times", count.events), ("count", (count.value * 1000).rounded() / 1000)]
            + (DisplayText.moment(count.last).map { [("last", $0)] } ?? [])
    }
}
