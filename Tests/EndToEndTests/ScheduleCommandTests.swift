// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import IdleScheduling
import SearchlightEngine
import Synchronization
import TestSupport
import Testing

/// The complete path: the real service, its scheduler, a real worker, and the user's commands.
@Suite("Work in the background by searchlightd", .timeLimit(.minutes(10)))
struct ScheduleCommandTests {
    /// The service with a harness and the fixture `background`. The conditions of the test machine
    /// do not matter.
    private final class Service: Sendable {
        let harness: Harness
        let bundle: String
        let command: Command
        private let running: Mutex<ChildProcess>
        private let log: String
        private var child: ChildProcess { running.withLock { $0 } }

        init(_ mode: String) async throws {
            harness = try Harness()
            bundle = try harness.installBackground(mode)
            let gates = Gate.allCases.filter { $0.isSwitchable && $0 != .inhibited }.map { "\"\($0.code)\": false" }
            let policy = harness.folder + "/policy.json"
            try Data("{\"pause.shortest\": 0, \"gates\": {\(gates.joined(separator: ", "))}}".utf8)
                .write(to: URL(filePath: policy))
            command = Command(harness: harness, variables: ["SEARCHLIGHT_SCHEDULING": policy])
            log = harness.folder + "/log"
            try #require(FileManager.default.createFile(atPath: log, contents: nil))
            running = Mutex(try Self.start(harness, command, log))
        }

        private static func start(_ harness: Harness, _ command: Command, _ log: String) throws -> ChildProcess {
            let file = try FileHandle(forWritingTo: URL(filePath: log))
            try file.seekToEnd()
            return try ChildProcess(
                BuiltProducts.program("searchlightd"),
                ["--store", harness.store, "--extensions", harness.extensions, "--no-session-bus"],
                environment: command.environment, output: .inherited, errors: .file(file))
        }

        /// Kills it and starts another.
        func replace() throws {
            child.send(SIGKILL)
            child.wait()
            let next = try Self.start(harness, command, log)
            running.withLock { $0 = next }
        }

        var text: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        var workers: [ProcessFacts] {
            text.matches(of: /its worker is process (\d+)/).compactMap { pid_t($0.1) }.map(ProcessFacts.init)
        }

        func waitUntil(_ condition: () throws -> Bool) async throws {
            let clock = ContinuousClock()
            let deadline = clock.now + .seconds(100)
            while try !condition() {
                try #require(child.isRunning && clock.now < deadline, "\(text)")
                try await clock.sleep(for: .milliseconds(5))
            }
        }

        func waitFor(_ line: String) async throws { try await waitUntil { text.contains(line) } }

        /// The kernel's data about the service's session; `nil` if the kernel does not group by
        /// sessions, or the service was started at a terminal.
        var autogroup: String? {
            guard getsid(child.identifier) == child.identifier else { return nil }
            return try? String(contentsOfFile: "/proc/\(child.identifier)/autogroup", encoding: .utf8)
        }

        /// Returns `true` if the schedule file has a record of that name.
        func keeps(_ record: String) throws -> Bool {
            let file = try Data(contentsOf: URL(filePath: harness.store + "/schedule.json"))
            return String(decoding: file, as: UTF8.self).contains("\"\(record)\"")
        }

        /// Returns the output of “why --json”.
        func report() throws -> Report {
            try JSONDecoder().decode(Report.self, from: Data(try command("why", bundle, "--json").output.utf8))
        }

        func end() {
            child.send(SIGTERM)
            child.wait()
        }

        deinit { if child.isRunning { child.send(SIGKILL) } }
    }

    @Test("An added extension donates in the background; why, schedule and log report it")
    func added() async throws {
        let service = try await Service("cooperative 5")
        try await service.waitFor("the index has 5 items of it")
        try await service.waitUntil { try service.command("schedule").output == "No jobs are pending.\n" }
        let why = try service.command("why", service.bundle)
        #expect(why.status == 0)
        #expect(why.output.hasPrefix("\(service.bundle) is not pending; a job would run now\n"))
        #expect(why.output.contains("today: 1 run, ") && why.output.contains("5 items"))
        #expect(why.output.contains("quota: 0."))
        let day = try #require(try service.report().jobs.first?.days?.last?.day)
        #expect(try #require(try? Date(day, strategy: .iso8601.year().month().day())) <= .now)
        let log = try service.command("log")
        #expect(log.output.contains("\(service.bundle) starts\n"))
        #expect(log.output.contains("\(service.bundle) is done; "))
        let json = try service.command("log", "--json", "--lines", "1")
        #expect(try #require(JournalLine(json: Array(json.output.utf8.dropLast()))).entry.kind == .done)
        // There is nothing to run, and nothing to stop.
        let run = try service.command("schedule", "run", service.bundle)
        #expect(run.status == 2 && run.output.contains("searchlight reindex \(service.bundle)"))
        #expect(try service.command("schedule", "cancel", service.bundle).status == 2)
        // A mistyped name is not an extension without pending work.
        for use in ["run", "cancel"] {
            let nobody = try service.command("schedule", use, "nobody.at.all")
            #expect(nobody.status == 2 && nobody.output.contains("There is no extension nobody.at.all"), "\(nobody)")
        }
        let optimize = try service.command("schedule", "run", "optimize")
        #expect(optimize.status == 0)
        // The job has no separate process that could be measured.
        try await service.waitUntil { try service.command("log").output.contains("optimizing the index is done\n") }
        service.end()
    }

    @Test("The user's throttling pauses an extension until the user ends it; both outlast the service")
    func throttled() async throws {
        let service = try await Service("busy")
        try await service.waitFor("working")
        let worker = try #require(service.workers.first)
        let on = try service.command("throttle", service.bundle, "on")
        #expect(on == (0, "\(service.bundle) is throttled now.\n"))
        try await service.waitUntil { worker.state == "T" }
        #expect(
            try service.command("throttle", service.bundle, "on").output == "\(service.bundle) was throttled before.\n")
        let why = try service.command("why", service.bundle)
        #expect(why.output.contains("is paused: you throttled the extension"))
        #expect(why.output.contains("searchlight throttle \(service.bundle) off"))
        let report = try service.report()
        #expect(report.throttled == [service.bundle] && report.jobs.first?.decision == "paused")
        #expect(try service.command("throttle", service.bundle, "off").status == 0)
        try await service.waitUntil { worker.state.map { $0 != "T" } == true }
        #expect(service.workers.count == 1)
        service.end()
        #expect(worker.state == nil)
    }

    private struct Report: Decodable {
        struct Job: Decodable {
            struct Quota: Decodable { var used: Usage }
            struct Day: Decodable { var day: String }
            var decision: String
            var quota: Quota?
            var days: [Day]?
        }
        struct Machine: Decodable { var isAsleep: Bool }
        var conditions: Machine
        var throttled: [String]
        var jobs: [Job]
    }

    @Test("While a command runs under inhibit, running jobs are paused; the exit status is the command's")
    func inhibited() async throws {
        let service = try await Service("busy")
        try await service.waitFor("working")
        let worker = try #require(service.workers.first)
        let gate = service.harness.folder + "/gate"
        mkfifo(gate, 0o600)
        let inhibiting = try ChildProcess(
            BuiltProducts.program("searchlight"), ["inhibit", "--", "sh", "-c", "read line < \(gate); exit 7"],
            environment: service.command.environment)
        try await service.waitUntil { worker.state == "T" }
        let why = try service.command("why", service.bundle)
        #expect(why.output.contains("a program inhibits background work") && why.output.contains("sh (sh -c read"))
        try FileHandle(forWritingTo: URL(filePath: gate)).write(contentsOf: Data("x\n".utf8))
        #expect(inhibiting.wait() == .exited(7))
        try await service.waitUntil { worker.state.map { $0 != "T" } == true }
        // A killed process no longer inhibits.
        let killed = try ChildProcess(
            BuiltProducts.program("searchlight"), ["inhibit", "--", "sleep", "100"],
            environment: service.command.environment)
        try await service.waitUntil { worker.state == "T" }
        killed.send(SIGKILL)
        killed.wait()
        try await service.waitUntil { worker.state.map { $0 != "T" } == true }
        service.end()
    }

    @Test("A command under inhibit still inhibits after the service was killed and started again")
    func inhibitedAgain() async throws {
        let service = try await Service("busy")
        try await service.waitFor("working")
        let inhibiting = try ChildProcess(
            BuiltProducts.program("searchlight"), ["inhibit", "--", "sleep", "100"],
            environment: service.command.environment)
        defer { inhibiting.send(SIGKILL) }
        try await service.waitUntil { service.workers.first?.state == "T" }
        try service.replace()
        try await service.waitUntil {
            try service.command("why", service.bundle).output.contains("a program inhibits background work")
        }
        service.end()
    }

    @Test("Signals act on the command under inhibit as without inhibit")
    func inhibitingSignals() throws {
        let command = Command(harness: try Harness())
        for signal in ["TERM", "INT", "QUIT", "HUP", "PIPE", "USR1"] {
            let outcome = try command("inhibit", "--", "sh", "-c", "kill -\(signal) $$; echo survived")
            #expect(!outcome.output.contains("survived"), "\(signal)")
            #expect(outcome.status > 128, "\(signal)")
        }
        // Ending the inhibitor ends the command, for whose exit status it waits.
        let (gate, begun) = (command.harness.folder + "/gate", Pipe())
        mkfifo(gate, 0o600)
        let child = try ChildProcess(
            BuiltProducts.program("searchlight"),
            ["inhibit", "--", "sh", "-c", "trap 'exit 3' TERM; echo begun; read line < \(gate)"],
            environment: command.environment, output: .pipe(begun), errors: .nothing)
        #expect(begun.fileHandleForReading.availableData == Data("begun\n".utf8))
        child.send(SIGTERM)
        #expect(child.wait() == .exited(3))
    }

    @Test("Inhibit has options of its own, and the command keeps its options")
    func inhibitOptions() throws {
        let command = Command(harness: try Harness())
        for help in ["--help", "-h"] {
            let outcome = try command("inhibit", help)
            #expect(outcome.status == 0 && outcome.output.contains("USAGE: searchlight inhibit"), "\(outcome)")
        }
        let unknown = try command("inhibit", "--wy", "x", "true")
        #expect(unknown.status == 64 && unknown.output.contains("--wy"))
        #expect(try command("inhibit", "--", "sh", "-c", "exit 5", "--help").status == 5)
        #expect(try command("inhibit", "sh", "-c", "exit 5", "--why").status == 5)
        let noProgram = try command("inhibit", "--", command.harness.folder)
        #expect(noProgram.status == 126 && noProgram.output.contains("executable"))
    }

    @Test("A cancelled job ends, stays pending and does not run until the user requests it")
    func cancelled() async throws {
        let service = try await Service("busy")
        try await service.waitFor("working")
        let worker = try #require(service.workers.first)
        #expect(try service.command("schedule", "cancel", service.bundle).status == 0)
        await worker.waitForEnd()
        try await service.waitUntil {
            try service.command("schedule").output.contains("\(service.bundle) waits, pending since ")
        }
        #expect(try service.command("why", service.bundle).output.contains("cancelled"))
        // A cancellation by the user remains in effect even if the service exits.
        try await service.waitUntil { try service.keeps("cancellations") }
        try service.replace()
        #expect(try service.command("why", service.bundle).output.contains("cancelled"))
        #expect(service.text.matches(of: /working/).count == 1)
        try Data("cooperative 3\n".utf8).write(
            to: URL(filePath: service.harness.marks + "/\(service.bundle).searchext.mode"))
        let before = try service.report().jobs.first?.quota?.used.cpu
        #expect(try service.command("schedule", "run", service.bundle).status == 0)
        try await service.waitFor("the index has 3 items of it")
        try await service.waitUntil { try service.report().jobs.first?.decision == "nothing-owed" }
        // The quota does not delay work that the user requested, but its usage is counted.
        let (used, first) = (try #require(try service.report().jobs.first?.quota?.used.cpu), try #require(before))
        #expect(used > first)
        service.end()
    }

    @Test("The service itself yields during background work, except while a client waits and afterwards")
    func yields() async throws {
        let service = try await Service("busy")
        try await service.waitFor("working")
        guard service.autogroup != nil else { return }
        try await service.waitUntil { service.autogroup?.contains("nice 19") == true }
        #expect(try service.command("schedule", "cancel", service.bundle).status == 0)
        try await service.waitUntil { service.autogroup?.contains("nice 0") == true }
        service.end()
    }

    @Test("A drag or a reindex of the user is not delayed by paused workers")
    func personsFirst() async throws {
        let service = try await Service("busy")
        try await service.waitFor("working")
        let worker = try #require(service.workers.first)
        #expect(try service.command("throttle", service.bundle, "on").status == 0)
        try await service.waitUntil { worker.state == "T" }
        try Data("cooperative 4\n".utf8).write(
            to: URL(filePath: service.harness.marks + "/\(service.bundle).searchext.mode"))
        let reindex = try service.command("reindex", service.bundle)
        #expect(reindex.status == 0, "\(reindex.output)")
        #expect(reindex.output.contains("4 items indexed"))
        service.end()
    }

    @Test("Wrong usage is reported with the remedy, and has its own status")
    func wrongUse() async throws {
        let command = Command(harness: try Harness())
        for arguments in [
            ["why", "--all", "x"], ["throttle", "x"], ["throttle", "x", "maybe"], ["inhibit"],
            ["inhibit", "--"],
            ["schedule", "run"], ["log", "--lines", "-1"], ["log", ""], ["schedule", "policy", "--check", "/nowhere"],
        ] {
            #expect(try await command.outcome(arguments).status == 64, "\(arguments)")
        }
        let nobody = try Command.indexed()("why", "nobody.at.all")
        #expect(nobody.status == 2 && nobody.output.contains("nobody.at.all"))
        let missing = try command("inhibit", "--", "/nowhere/at-all")
        #expect(missing.status == 127 && missing.output.contains("No such file"))
        #expect(try command("inhibit", "--", "sh", "-c", "kill -9 $$").status == 137)
        try Data(#"{"slice.full": -1}"#.utf8).write(to: URL(filePath: command.harness.folder + "/bad.json"))
        let bad = try command("schedule", "policy", "--check", command.harness.folder + "/bad.json")
        #expect(bad.status == 64 && bad.output.contains("slice.full") && bad.output.contains("1 to 600"))
        let policy = try command("schedule", "policy")
        #expect(policy.status == 0 && policy.output.contains("slice.full"))
        let nobodyOwes = try Command.indexed()("schedule", "run", "nobody.at.all")
        let empty = try Command.indexed()
        try FileManager.default.removeItem(atPath: empty.harness.extensions)
        let nothing = try empty("why", "--all")
        #expect(
            nothing.status == 0 && nothing.output.hasSuffix("No jobs are pending, and no extension is installed.\n"))
        #expect(nobodyOwes.status == 2 && nobodyOwes.output.contains("There is no extension nobody.at.all"))
    }

    @Test("The policy is shown with its gates and changes, and its JSON is an equivalent file")
    func policy() throws {
        let harness = try Harness()
        let file = harness.folder + "/policy.json"
        try Data(#"{"slice.full": 20, "gates": {"hot": 3, "cpu-busy": null, "disk-floor": false}}"#.utf8)
            .write(to: URL(filePath: file))
        let command = Command(harness: harness, variables: ["SEARCHLIGHT_SCHEDULING": file])
        let shown = try command("schedule", "policy")
        #expect(shown.output.contains(/slice\.full +20 s  \(changed from 30 s\)\n/), "\(shown.output)")
        #expect(shown.output.contains(/hot +bypassed at low rate from score 3  \(changed from .* score 12\)\n/))
        #expect(shown.output.contains(/cpu-busy +never bypassed  \(changed from .* score 6\)\n/))
        #expect(shown.output.contains(/disk-floor +off  \(changed from never bypassed\)\n/))
        #expect(shown.output.contains(/on-battery +bypassed at low rate from score 8\n/))
        let json = try command("schedule", "policy", "--json")
        try Data(json.output.utf8).write(to: URL(filePath: file))
        #expect(try command("schedule", "policy", "--json") == json)
        let checked = try command("schedule", "policy", "--check", file)
        #expect(checked.status == 0, "\(checked.output)")
        try Data("{\n\"slice.full\": 20,,\n}".utf8).write(to: URL(filePath: file))
        let wrong = try command("schedule", "policy", "--json")
        #expect(wrong.status == 64 && wrong.output.hasPrefix("{"), "\(wrong.output)")
        #expect(wrong.output.contains("at byte 20"), "\(wrong.output)")
    }

    @Test("Without a service, why reports what a service would decide, and run does it")
    func alone() async throws {
        let harness = try Harness()
        let bundle = try harness.installBackground("cooperative 2")
        let command = Command(harness: harness)
        let run = try command("schedule", "run", bundle)
        #expect(run == (0, "\(bundle) is done.\n"))
        // Without a name, all pending jobs are explained.
        let nothing = try command("why").output
        #expect(nothing.contains("No jobs are pending.") && nothing.contains("searchlight log"), "\(nothing)")
        _ = try harness.installFixture("notebook")
        // A command that opens the store for writing notices the new extension.
        _ = try command("delete", "--bundle", "nobody", "--all")
        let pending = try command("why")
        #expect(pending.status == 0 && pending.output.contains("com.example.notebook waits: "), "\(pending)")
        #expect(!pending.output.contains("\(bundle) is not pending"))
        let why = try command.separately("why", bundle)
        #expect(why.status == 0 && why.errors.contains("no service runs"), "\(why)")
        #expect(why.output.contains("\(bundle) is not pending"))
        #expect(try command("schedule", "cancel", bundle).status == 2)
        let log = try command.separately("log")
        #expect(log.status == 0 && log.errors.contains("searchlightd"))
    }
}
