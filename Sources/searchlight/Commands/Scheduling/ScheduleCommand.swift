// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import Foundation
import IdleScheduling
import SearchlightEngine

struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "List pending background jobs, run one now, or stop one.",
        subcommands: [
            ScheduleListCommand.self, ScheduleRunCommand.self, ScheduleCancelCommand.self, SchedulePolicyCommand.self,
        ],
        defaultSubcommand: ScheduleListCommand.self)
}

struct ScheduleListCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List pending jobs: running jobs first, then by urgency.",
        discussion: "“searchlight why JOB” explains one job.")

    @OptionGroup var options: GlobalOptions

    func perform() async throws {
        let report = try await options.withSchedule(.read) { schedule in try await schedule.schedule(of: nil) }
        if options.json { return try Output.printJSON(JSONObject(report)) }
        if !report.isScheduling {
            Output.complain(
                "Note: no service runs, so no background work is done. To start one: searchlightd")
        }
        for job in report.jobs {
            let closed = job.gates.filter { $0.state == .closed }.map(\.gate.words).joined(separator: "; ")
            let because = closed.isEmpty ? "" : ": \(closed)"
            let since = job.job.map { ", pending since \(ScheduleTime.text($0.requested, from: report.moment))" } ?? ""
            try Output.line("\(bold: job.key.words) \(job.decision.words)\(since)\(because)")
        }
        if report.jobs.isEmpty { try Output.line("No jobs are pending.") }
    }
}

extension JobExplanation.Decision {
    var words: String {
        switch self {
        case .running: "runs"
        case .paused: "is paused"
        case .stopping: "is stopping"
        case .waiting: "waits"
        case .nothingOwed: "is not pending"
        }
    }
}

struct ScheduleRunCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Run pending jobs now, regardless of the gates.",
        discussion: """
            A running service starts the jobs at once, and this command does not wait (“searchlight log --follow” shows them). \
            Without a service, this command runs them itself. Exit status 2 if nothing is pending. To have an extension donate \
            everything again: searchlight reindex BUNDLE
            """)

    @OptionGroup var options: GlobalOptions
    @OptionGroup var job: JobChoice

    func perform() async throws {
        let named = try job.key
        let (key, isThere, isLater) = try await options.withStore(.change) { store in
            let schedule = try options.schedule(of: store)
            var (key, isThere) = (named, try await schedule.runNow(named))
            // The name of an extension denotes any of its pending jobs.
            for other in named.others where !isThere {
                key = other
                isThere = try await schedule.runNow(key)
            }
            if !isThere { try await store.checkKnown([named]) }
            return (isThere ? key : named, isThere, store is RemoteEngine)
        }
        guard isThere else {
            throw CommandFailure(
                message:
                    "\(key.words) is not pending. To donate everything again: searchlight reindex \(key.bundle ?? "BUNDLE")",
                status: .notFound)
        }
        if options.json { return try Output.printJSON(["job": key.name, "state": isLater ? "begun" : "done"]) }
        try Output.line(
            "\(bold: key.words) \(isLater ? "is in progress; to follow it: searchlight log --follow" : "is done")."
        )
    }
}

struct ScheduleCancelCommand: OptionedCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel", abstract: "Stop a job, and let it wait for some hours; it stays pending.",
        discussion:
            "Exit status 2 if no such job is pending. To pause an extension for longer: searchlight throttle")

    @OptionGroup var options: GlobalOptions
    @OptionGroup var job: JobChoice

    func perform() async throws {
        let key = try job.key
        guard let service = try await options.connectToService() else {
            let reason = options.staysInProcess ? "--in-process excludes the service" : "No service runs"
            throw CommandFailure(
                message: "\(reason) for the store at \(options.storeDirectory), so nothing is stopped.",
                status: .notFound)
        }
        let isThere = try await service.cancel(key)
        if !isThere { try await service.checkKnown([key]) }
        await service.close()
        guard isThere else {
            throw CommandFailure(
                message: "\(key.words) is not pending, so there is nothing to stop.", status: .notFound)
        }
        if options.json { return try Output.printJSON(["job": key.name, "state": "cancelled"]) }
        try Output.line(
            "\(bold: key.words) waits for some hours. To run it now: searchlight schedule run \(name)"
        )
    }

    private var name: String { job.name }
}
