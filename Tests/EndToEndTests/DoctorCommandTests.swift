// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

/// `searchlight doctor` on this machine, with test stores and services. DiagnosisTests covers its
/// findings about other machines with invented facts.
@Suite("searchlight doctor", .timeLimit(.minutes(10)))
struct DoctorCommandTests {
    private struct Report: Decodable {
        struct Finding: Decodable {
            var name: String
            var area: String
            var level: String
            var fact: String
            var cost: String?
            var advice: String?
        }
        var version: String
        var problems: Int
        var notes: Int
        var findings: [Finding]

        subscript(name: String) -> Finding? { findings.first { $0.name == name } }
    }

    private static func report(_ command: Command, _ arguments: [String] = []) throws -> (status: Int32, report: Report)
    {
        let (status, output) = try CFixture.run(
            BuiltProducts.program("searchlight"), ["doctor", "--json"] + arguments, environment: command.environment)
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        return (status, report)
    }

    @Test("It checks everything and creates no store, and its exit status reports a problem")
    func nothingThere() throws {
        let command = Command(harness: try Harness())
        let store = command.harness.folder + "/none/store"
        let (status, report) = try Self.report(command, ["--store", store])
        #expect(
            Set(report.findings.map(\.area)) == ["kernel", "machine", "programs", "store", "service", "extensions"])
        #expect(report.problems == report.findings.count { $0.level == "problem" })
        #expect(report.notes == report.findings.count { $0.level == "note" })
        #expect(status == (report.problems == 0 ? 0 : 1))
        #expect(report["running"]?.fact == "No service runs for this store.")
        #expect(report["folder"]?.fact.contains("There is no store yet") == true)
        #expect(!FileManager.default.fileExists(atPath: command.harness.folder + "/none"))
    }

    @Test("A store that others can read, and a bundle that others can write, are problems with remedies")
    func problems() throws {
        let command = try Command.indexed()
        #expect(chmod(command.harness.store, 0o755) == 0)
        let bundle = command.harness.extensions + "/com.example.notebook.searchext"
        #expect(chmod(bundle, 0o777) == 0)
        let (status, report) = try Self.report(command)
        #expect(status == 1)
        #expect(report["permissions"]?.level == "problem")
        #expect(report["permissions"]?.advice == "Remove their access: chmod 700 \(command.harness.store)")
        #expect(report["refused"]?.fact.contains("is writable by others") == true)
        var info = stat()
        #expect(stat(command.harness.store, &info) == 0 && info.st_mode & 0o777 == 0o755, "It repairs nothing.")
    }

    @Test("The service of a store is found and reported with its version; a frozen one is not waited for")
    func service() async throws {
        let command = try Command.indexed()
        var environment = try command.environment
        environment["XDG_CACHE_HOME"] = command.harness.folder + "/cache"
        let child = try ChildProcess(
            BuiltProducts.program("searchlightd"),
            ["--store", command.harness.store, "--extensions", command.harness.extensions, "--no-session-bus"],
            environment: environment, output: .nothing, errors: .nothing)
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(60)
        while (try? ServiceSocket.connect(inFolder: command.harness.store)) == nil {
            try #require(child.isRunning && clock.now < deadline)
            try await clock.sleep(for: .milliseconds(10))
        }
        let (_, report) = try Self.report(command)
        let running = try #require(report["running"])
        #expect(running.level == "ok" && running.fact.contains(report.version), "\(running)")
        kill(child.identifier, SIGSTOP)
        let (status, frozen) = try Self.report(command)
        kill(child.identifier, SIGCONT)
        #expect(status == 1)
        #expect(frozen["running"]?.fact.contains("does not answer") == true, "\(String(describing: frozen["running"]))")
        child.send(SIGTERM)
        _ = child.wait()
    }

    @Test("The output for users fits 80 columns, without colour outside a terminal")
    func layout() throws {
        var command = try Command.indexed()
        command.variables["SEARCHLIGHT_SANDBOX"] = "off"
        let (status, output) = try command("doctor")
        #expect(status == 1)
        #expect(!output.contains("\u{1B}"))
        for line in output.split(separator: "\n") where line.count > 80 {
            // Only an unbreakable word, such as a path to copy, may be longer.
            #expect(line.trimmingPrefix { $0 == " " }.split(separator: " ").count == 1, "\(line)")
        }
        #expect(output.contains("  problem  SEARCHLIGHT_SANDBOX=off is set"))
        #expect(output.contains("           Costs: An extension has all your rights."))
        let quiet = try command("doctor", "--quiet")
        #expect(!quiet.output.contains("  ok  ") && quiet.output.contains("  problem  "))
        let terminal = try command.onTerminal("doctor")
        #expect(terminal.output.contains("\u{1B}["))
    }
}
