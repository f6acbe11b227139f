// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@Suite("searchlight simulate and record", .timeLimit(.minutes(10)))
struct SimulateCommandTests {
    private let command: Command
    private var folder: String { command.harness.folder }

    init() throws { command = Command(harness: try Harness()) }

    @Test("A shipped trace is replayed by its name: decisions, the result of each job, and the cost")
    func shipped() throws {
        let (status, output, errors) = try command.separately("simulate", "resume-from-sleep")
        #expect(status == 0 && errors.isEmpty)
        // Times are in the trace's time zone.
        #expect(output.contains("2026-03-02 22:19:20  org.example.mail pauses: the machine is about to sleep (asleep)"))
        #expect(output.contains("org.example.mail: done 1 time; started after 16 min and done after 8 h 47 min"))
        #expect(output.contains("In 12 h 30 min work ran for "))
        let (_, quiet, _) = try command.separately("simulate", "--quiet", "resume-from-sleep")
        #expect(!quiet.contains("2026-03-02") && output.hasSuffix(quiet))
        let list = try command("simulate", "--list")
        #expect(list.status == 0)
        for name in ["laptop-office-day", "laptop-on-battery", "build-server", "never-idle", "resume-from-sleep"] {
            #expect(list.output.contains(name + "\n"))
        }
    }

    @Test("A printed trace gives the same replay from a file and from standard input")
    func printed() throws {
        let (status, _) = try command.shell(
            #"""
            "$SEARCHLIGHT" simulate build-server --print > t.jsonl && "$SEARCHLIGHT" simulate t.jsonl --json > one.json &&
            "$SEARCHLIGHT" simulate - --json < t.jsonl > two.json && "$SEARCHLIGHT" simulate build-server --json > three.json &&
            cmp one.json two.json && cmp one.json three.json && "$SEARCHLIGHT" simulate t.jsonl --print > again.jsonl &&
            "$SEARCHLIGHT" simulate again.jsonl --json | cmp - one.json
            """#)
        #expect(status == 0)
        let data = try Data(contentsOf: URL(filePath: folder + "/one.json"))
        let report = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let jobs = try #require(report["jobs"] as? [[String: Any]])
        #expect(jobs.map { $0["done"] as? Int } == [1, 16])
        let journal = try #require(report["journal"] as? [[String: Any]])
        #expect(
            journal.first?["at"] as? String == "2026-03-02T07:00:00.000Z"
                && journal.first?["event"] as? String == "start")
        #expect((report["totals"] as? [String: Any])?["seconds"] as? Int == 28800)
    }

    @Test("The rules of a configuration file replace the trace's rules")
    func policy() throws {
        let file = folder + "/policy.json"
        try Data(#"{"gates": {"user-active": false}}"#.utf8).write(to: URL(filePath: file))
        let (status, output) = try command("simulate", "laptop-office-day", "--quiet", "--policy", file)
        #expect(status == 0 && output.contains("The user was active for 0 s"), "\(output)")
        try Data(#"{"gates": {"moon": false}}"#.utf8).write(to: URL(filePath: file))
        let wrong = try command("simulate", "laptop-office-day", "--policy", file)
        #expect(wrong.status == 64 && wrong.output.contains("moon"))
    }

    @Test("A plot is written completely, with a legend of gates, and replaces an existing file")
    func plot() throws {
        let file = folder + "/day.svg"
        try Data("old".utf8).write(to: URL(filePath: file))
        let (status, output) = try command("simulate", "laptop-office-day", "--quiet", "--plot", file)
        #expect(status == 0, "\(output)")
        let svg = try String(contentsOfFile: file, encoding: .utf8)
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n") && svg.contains("the user is active"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("part") }.isEmpty)
        // The mode is the same as for a recording, because the file shows when the user was active.
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let nowhere = try command("simulate", "never-idle", "--plot", folder + "/none/day.svg")
        #expect(nowhere.status == 8 && nowhere.output.contains("there is no folder \(folder)/none. Create it"))
    }

    @Test("PNG is drawn by rsvg-convert; without it the message says what to install")
    func png() throws {
        var bare = command
        bare.variables["PATH"] = folder
        let missing = try bare("simulate", "never-idle", "--quiet", "--plot", folder + "/day.png")
        #expect(missing.status == 1 && missing.output.contains("librsvg2-bin"))
        // A fake that writes the beginning of a PNG.
        let program = folder + "/rsvg-convert"
        try Data("#!/bin/sh\nprintf '\\211PNG' > \"$6\" && /bin/grep -q '</svg>' \"$7\"\n".utf8).write(
            to: URL(filePath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        let drawn = try bare("simulate", "never-idle", "--quiet", "--plot", folder + "/day.png")
        #expect(drawn.status == 0, "\(drawn.output)")
        #expect(try Data(contentsOf: URL(filePath: folder + "/day.png")).starts(with: [0x89, 0x50, 0x4E, 0x47]))
        try Data("#!/bin/sh\nexit 3\n".utf8).write(to: URL(filePath: program))
        let failed = try bare("simulate", "never-idle", "--quiet", "--plot", folder + "/other.png")
        #expect(failed.status == 1 && failed.output.contains("status 3"))
        #expect(!FileManager.default.fileExists(atPath: folder + "/other.png"))
    }

    @Test("An error has its exit status and says what to do")
    func wrong() throws {
        #expect(try command("simulate").status == 64)
        #expect(try command("simulate", "--list", "never-idle").status == 64)
        #expect(try command("simulate", "never-idle", "--plot", "day.gif").status == 64)
        let missing = try command("simulate", "office-day")
        #expect(missing.status == 8 && missing.output.contains("laptop-office-day"), "\(missing.output)")
        #expect(try command("simulate", folder).status == 8)
        let broken = try command.shell(
            #"printf '{"trace":1,"name":"t","date":"2026-03-02"}\n{"at":"9:00","end":1}\n' | "$SEARCHLIGHT" simulate -"#
        )
        #expect(broken.status == 1 && broken.output.contains("Line 2 of the trace: “end” is 1. Set it to true."))
        let json = try command.shell(#"echo '{}' | "$SEARCHLIGHT" simulate - --json"#)
        #expect(json.status == 1)
        let report = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any]
        #expect(report?["status"] as? Int == 1)
    }

    @Test("A file of 100 MB and an endless pipe are rejected before they use much memory")
    func tooLarge() throws {
        // A sanitizer needs more address space than the memory of a small machine.
        let limit = Sanitizer.current == nil ? "ulimit -v 600000 && " : ""
        let large = try command.shell(
            #"truncate -s 100M large.jsonl && \#(limit)"$SEARCHLIGHT" simulate large.jsonl"#)
        #expect(large.status == 1 && large.output.contains("16 MiB"), "\(large.output)")
        let endless = try command.shell(#"yes '{"at":"9:00"}' | "$SEARCHLIGHT" simulate -"#)
        #expect(endless.status == 1 && endless.output.contains("16 MiB"), "\(endless.output)")
    }

    @Test("A recording can be simulated, and an existing recording is not overwritten")
    func record() throws {
        let file = folder + "/now.jsonl"
        let recorded = try command("record", "--for", "1s", "--output", file, "--name", "now")
        #expect(recorded.status == 0, "\(recorded.output)")
        let (status, output) = try command("simulate", file)
        #expect(status == 0 && output.contains("In "), "\(output)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text.contains(#""name":"now""#) && text.contains("\"conditions\"") && text.hasSuffix("\"end\":true}\n"))
        let nowhere = try command("record", "--for", "1", "--output", file + "/absent/x")
        #expect(nowhere.status == 8 && nowhere.output.contains("Name another file."), "\(nowhere.output)")
        let absent = try command("record", "--for", "1", "--output", file + "-absent/x")
        #expect(absent.status == 8 && absent.output.contains("Create its folder first"), "\(absent.output)")
        let again = try command("record", "--for", "1", "--output", file)
        #expect(again.status == 8 && again.output.contains("Name another file"))
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        for wrong in ["0", "x", "-1", "32d", "1.5h", ""] {
            #expect(try command("record", "--for=\(wrong)").status == 64, "\(wrong)")
        }
    }

    @Test("Control-C ends a recording with its last line")
    func interrupted() throws {
        let (status, output) = try command.shell(
            #"""
            {
                "$SEARCHLIGHT" record > now.jsonl & recorder=$!
                tries=0
                until grep -q conditions now.jsonl; do
                    tries=$((tries + 1)); [ $tries -lt 20000 ] || { kill $recorder; exit 8; }
                done
                kill -TERM $recorder; wait $recorder || exit 9
                tail -n 1 now.jsonl | grep -q '"end":true' && "$SEARCHLIGHT" simulate now.jsonl
            }
            """#)
        #expect(status == 0, "\(output)")
    }
}
