// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ArgumentParser
import CommandSupport
import Foundation
import SearchIndex
import SearchlightEngine

struct OpenCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open an item in its app.",
        discussion: """
            Tried in this order: the app over the session bus (org.freedesktop.Application), the command of its desktop entry, \
            the default app of the item's file or URL. An app is started at most once. Its desktop entry is the DesktopEntry of \
            the extension's manifest, or else it has the name of the bundle. --dry-run shows the way that is taken, and why.

            A file of an extension's item is opened if the extension may read it.

            --json prints an object: app, delivery (file, url or nothing), entry, item, outcome (activated, started or \
            finished), process (of a started program) and way (busActivation, desktopEntry or defaultHandler); if it failed \
            error, item, outcome and status; with --dry-run app, busName, command, delivery, entry, item, passedOver, reason, \
            uris and way. Unknown values are omitted.

            Exit status: 0 the app was started or answered, 2 no such item or its file is gone, 3 no app opens it, 4 its file \
            may not be opened, 5 cancelled, 6 the app did not answer in time, 7 the app crashed at its start, 8 it could not be \
            started.
            """)

    @OptionGroup var options: GlobalOptions
    @Argument(
        help: ArgumentHelp(
            "A number as “search” prints it (@12), or the item's unique identifier; for items that are files also a path.",
            valueName: "item"))
    var item: String
    @Option(
        help: "The bundle the item belongs to, if several have one of this name.", completion: BundleNames.completion)
    var bundle: String?
    @Option(help: "The name of the index that the item is in, if several of the bundle's have one of this name.")
    var index: String?
    @Option(
        name: .shortAndLong,
        help: "The words that you searched for. Later searches for them rank the item higher.")
    var query: String?
    @Flag(help: "Only show how the item would be opened, and why.")
    var dryRun = false

    func validate() throws {
        try refuseEmpty(index, "--index")
        if let problem = query.flatMap(SearchText.lengthProblem) { throw ValidationError(problem) }
    }

    func perform() async throws {
        // Opening starts an app, so it is never repeated.
        try await options.withStore(.read, isRepeatable: false) { store in
            guard
                let found = try await ItemChoice.find([item], bundle: bundle, index: index, in: store).first
            else { throw EngineError.itemNotFound(item) }
            let item = try found.get()
            let target = try await store.perform(LaunchTargetCall(item: item.number))
            do {
                let plan = try LaunchPlanner(environment: options.environment).plan(target)
                if dryRun { return try show(plan) }
                let outcome = try await AppLauncher(environment: options.environment).launch(plan)
                try report(outcome, plan, target)
            } catch let error as LaunchError {
                try fail(error)
            }
            if let query { await store.count(.init(item: item.number, text: query, kind: .open)) }
        }
    }
}

extension OpenCommand {
    private func show(_ plan: LaunchPlan) throws {
        if options.json {
            return try Output.printJSON(
                [
                    "item": item, "app": plan.app, "entry": plan.entry, "way": plan.way.rawValue,
                    "delivery": plan.delivery.rawValue, "reason": plan.reason, "busName": plan.bus?.name,
                    "uris": plan.bus?.uris, "command": plan.command.map { [$0.program] + $0.words.dropFirst() },
                    "passedOver": plan.passedOver.map { other -> JSONObject in
                        ["way": other.way.rawValue, "reason": other.reason]
                    },
                ] as JSONObject)
        }
        var facts = [("app", "\(plan.app) (\(plan.entry))")]
        if let bus = plan.bus {
            facts.append(
                ("D-Bus", ([bus.name, bus.uris.isEmpty ? "Activate" : "Open"] + bus.uris).joined(separator: " ")))
        }
        if let command = plan.command {
            facts.append(("command", ([command.program] + command.words.dropFirst()).joined(separator: " ")))
        }
        facts.append(("reason", plan.reason))
        for other in plan.passedOver { facts.append(("not", "\(other.way.phrase): \(other.reason)")) }
        let width = facts.map(\.0.count).max() ?? 0
        for (name, value) in facts { try Output.line("\(dim: name.padded(to: width))  \(value)") }
    }

    private func report(_ outcome: AppLauncher.Outcome, _ plan: LaunchPlan, _ target: LaunchTarget) throws {
        if options.json {
            return try Output.printJSON(
                [
                    "item": item, "outcome": outcome.kind.rawValue, "way": plan.way.rawValue, "entry": plan.entry,
                    "app": plan.app, "delivery": plan.delivery.rawValue, "process": outcome.process,
                ] as JSONObject)
        }
        if plan.delivery == .nothing {
            try Output.line("Started \(plan.app), which has no way to be given “\(target.title)”.")
        } else {
            try Output.line("Opened “\(target.title)” in \(plan.app).")
        }
    }

    private func fail(_ error: LaunchError) throws -> Never {
        let status = ExitStatus(error.kind)
        guard options.json else { throw CommandFailure(message: error.description, status: status) }
        try Output.printJSON(
            [
                "item": item, "outcome": error.kind.rawValue, "error": Output.tidied(error.description),
                "status": status.rawValue,
            ] as JSONObject)
        throw ExitCode(status.rawValue)
    }
}

extension ExitStatus {
    /// The exit status for an item that was not opened.
    init(_ kind: LaunchError.Kind) {
        switch kind {
        case .noApp: self = .unsupportedType
        case .missingFile: self = .notFound
        case .refused: self = .refused
        case .cannotStart: self = .inputOutput
        case .crashed: self = .crashed
        case .timedOut: self = .timedOut
        case .cancelled: self = .cancelled
        }
    }
}

extension LaunchPlan.Way {
    fileprivate var phrase: String {
        switch self {
        case .busActivation: "the app over the session bus"
        case .desktopEntry: "the app's desktop entry"
        case .defaultHandler: "the default app"
        }
    }
}
