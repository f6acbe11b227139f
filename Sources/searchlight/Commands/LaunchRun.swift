// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import ArgumentParser
import CommandSupport
import SearchlightEngine

/// Opens a target and reports the outcome.
struct LaunchRun {
    let options: GlobalOptions
    let store: any EngineClient
    /// The name by which the user specified the item; `nil` for a search.
    let name: String?

    func run(_ target: LaunchTarget, isDry: Bool) async throws {
        let opener = ItemOpener(environment: options.environment, activities: ClientActivities(store))
        do {
            if isDry { return try show(try await opener.plan(target)) }
            let opened = try await opener.open(target)
            try report(opened.outcome, opened.plan, target)
        } catch let error as LaunchError {
            try fail(error)
        }
    }

    private func show(_ plan: LaunchPlan) throws {
        if options.json {
            return try Output.printJSON(
                [
                    "item": name, "app": plan.app, "entry": plan.entry, "way": plan.way.rawValue,
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
                    "item": name, "outcome": outcome.kind.rawValue, "way": plan.way.rawValue, "entry": plan.entry,
                    "app": plan.app, "delivery": plan.delivery.rawValue, "process": outcome.process,
                ] as JSONObject)
        }
        if case .search(let text) = target.activity {
            try Output.line("Continued the search for “\(text)” in \(plan.app).")
        } else if plan.delivery == .nothing {
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
                "item": name, "outcome": error.kind.rawValue, "error": Output.tidied(error.description),
                "status": status.rawValue,
            ] as JSONObject)
        throw ExitCode(status.rawValue)
    }
}

extension ExitStatus {
    /// Creates the exit status for an item that was not opened.
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
        case .runningApp: "the running app"
        case .busActivation: "the app over the session bus"
        case .desktopEntry: "the app's desktop entry"
        case .defaultHandler: "the default app"
        }
    }
}
