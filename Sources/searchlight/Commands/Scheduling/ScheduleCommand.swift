// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import IdleScheduling
import SearchlightEngine

struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "List what is to be done in the background, have it done now, or stop it.",
        subcommands: [
            ScheduleListCommand.self, ScheduleRunCommand.self, ScheduleCancelCommand.self, SchedulePolicyCommand.self,
        ],
        defaultSubcommand: ScheduleListCommand.self)
}

struct ScheduleListCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List what is owed: what is under way first, then what presses more.",
        discussion: "“searchlight why JOB” says more about one.")

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let report = try await options.withSchedule(.read) { schedule in try await schedule.schedule(of: nil) }
        if options.json { return try Output.printJSON(JSONObject(report)) }
        if !report.isScheduling {
            Output.complain(
                "Note: no service runs, so nothing is done in the background. To begin one: searchlightd")
        }
        for job in report.jobs {
            let closed = job.gates.filter { $0.state == .closed }.map(\.gate.words).joined(separator: "; ")
            let because = closed.isEmpty ? "" : ": \(closed)"
            let since = job.job.map { ", owed since \(ScheduleTime.text($0.requested, from: report.moment))" } ?? ""
            try Output.line("\(bold: job.key.words) \(job.decision.words)\(since)\(because)")
        }
        if report.jobs.isEmpty { try Output.line("Nothing is owed.") }
    }
}

extension JobExplanation.Decision {
    var words: String {
        switch self {
        case .running: "runs"
        case .paused: "is paused"
        case .stopping: "is being stopped"
        case .waiting: "waits"
        case .nothingOwed: "owes nothing"
        }
    }
}

struct ScheduleRunCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Have what is owed done now, whatever the machine is like.",
        discussion: """
            A service begins at once and this does not wait for it (“searchlight log --follow” shows it); without one it is done \
            by this command. Exit status 2 if the extension owes nothing; to have it donate everything again: searchlight \
            reindex BUNDLE
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var job: JobChoice

    func perform() async throws {
        let named = try job.key
        let (key, isThere, isLater) = try await options.withStore(.change) { store in
            let schedule = try options.schedule(of: store)
            var (key, isThere) = (named, try await schedule.runNow(named))
            // The name of an extension means any of its pending jobs.
            if !isThere, case .reindex(let bundle) = named {
                key = .files(bundle: bundle)
                isThere = try await schedule.runNow(key)
            }
            if !isThere { try await store.checkKnown([named]) }
            return (isThere ? key : named, isThere, store is RemoteEngine)
        }
        guard isThere else {
            throw CommandFailure(
                message:
                    "\(key.words) owes nothing. To have it donate everything again: searchlight reindex \(key.bundle ?? "BUNDLE")",
                status: .notFound)
        }
        if options.json { return try Output.printJSON(["job": key.name, "state": isLater ? "begun" : "done"]) }
        try Output.line(
            "\(bold: key.words) \(isLater ? "is being done; searchlight log --follow shows how it goes" : "is done")."
        )
    }
}

struct ScheduleCancelCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job and leave it alone for some hours; it stays owed.",
        discussion:
            "Exit status 2 if nothing of the kind is owed. To keep an extension quiet for longer: searchlight throttle")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var job: JobChoice

    func perform() async throws {
        let key = try job.key
        guard let service = try await options.connectToService() else {
            let reason = options.staysInProcess ? "The service is not to be asked" : "No service runs"
            throw CommandFailure(
                message: "\(reason) for the store at \(options.storeDirectory), so nothing is stopped.",
                status: .notFound)
        }
        let isThere = try await service.cancel(key)
        if !isThere { try await service.checkKnown([key]) }
        await service.close()
        guard isThere else {
            throw CommandFailure(
                message: "\(key.words) is not owed, so there is nothing to stop.", status: .notFound)
        }
        if options.json { return try Output.printJSON(["job": key.name, "state": "cancelled"]) }
        try Output.line(
            "\(bold: key.words) is left alone for some hours. To have it done after all: searchlight schedule run \(name)"
        )
    }

    private var name: String { job.name }
}
