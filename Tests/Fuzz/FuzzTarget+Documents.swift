// SPDX-License-Identifier: Apache-2.0
import AppLaunching
import DatabaseBindings
import Foundation
import IdleScheduling
import JSONText
import Promises
import SchedulerSimulation

extension FuzzTarget {
    private static let json = [
        "{", "}", "[", "]", ":", ",", "null", "true", "-1", "1e999", "\"", "9223372036854775808", "\\u0000", "\\ud800",
    ]

    /// Files and messages that people and other programs write.
    static let documents = [
        FuzzTarget(
            name: "json", tokens: json,
            samples: {
                [
                    Array(
                        #"{"a": [1, -2.5e3, "é\n\u00e9", null, true], "b": {"c": "\ud83d\ude00"}, "d": 9007199254740993}"#
                            .utf8)
                ]
            }
        ) { bytes in
            guard let value = try? JSONValue(reading: bytes[...], maximumDepth: 32) else { return false }
            let printed = value.json
            try require(
                try JSONValue(reading: Array(printed.utf8)[...], maximumDepth: 32).json == printed,
                "printed as \(printed)")
            return true
        },
        text(
            "databaseBinding", tokens: json + ["{t:unix-ms}", "SELECT ", ":key", "Template", "public.html"],
            samples: [
                """
                {"Files": ["~/.config/joplin/*/database.sqlite", "$XDG_DATA_HOME/j.db"], "Items": [{
                    "Name": "note", "Select": ["SELECT id, title, body AS text, t FROM notes", "SELECT * FROM old"],
                    "Key": "id", "Changed": "t", "Type": "net.daringfireball.markdown",
                    "Attributes": {"title": "{title}", "contentModificationDate": "{t:unix-ms}", "com_example_x": "{t}"},
                    "Promises": [{"Type": "public.html", "Template": "<p>{text}</p>"},
                                 {"Type": "public.png", "Select": "SELECT data FROM images WHERE note = :key"}],
                    "Preview": {"Type": "public.html", "Title": "{title}", "Template": "<h1>{title}</h1>"}}]}
                """
            ]
        ) { text in
            guard let binding = try? DatabaseBinding(json: text) else { return false }
            try require(try DatabaseBinding(json: binding.json) == binding, "printed as \(binding.json)")
            return true
        },
        FuzzTarget(
            name: "jobs", tokens: json,
            samples: {
                var queue = JobQueue()
                for number in 0..<3 { queue.add(Job(bundle: "com.example.\(number)", work: .reindexAll, requested: 5)) }
                return [Array(try JSONEncoder().encode(queue))]
            }
        ) { bytes in
            guard let queue = try? JSONDecoder().decode(JobQueue.self, from: Data(bytes)) else { return false }
            guard let data = try? JSONEncoder().encode(queue) else { return true }
            try require(try JSONDecoder().decode(JobQueue.self, from: data) == queue, "other jobs")
            return true
        },
        FuzzTarget(
            name: "policy", tokens: json + ["gates", "false", "500"],
            samples: {
                let settings = PolicySetting.all.prefix(6).map { "\"\($0.key)\": \($0.standard)" }
                let gates = #"{"user-active.seconds": 240, "gates": {"on-battery": false, "user-active": null}}"#
                return [Array("{\(settings.joined(separator: ", "))}".utf8), Array(gates.utf8)]
            }
        ) { bytes in
            do throws(PolicyError) { _ = try SchedulingPolicy(configuration: Data(bytes)) } catch {
                try require(error.description.utf8.count < 2000, "a very long message")
                return false
            }
            return true
        },
        FuzzTarget(
            name: "trace", tokens: json + ["\n", "\"at\"", "9:00", "+1h"],
            samples: {
                ShippedTrace.all.map { Array($0.jsonLines.utf8.prefix(2000)) }
                    + ShippedTrace.all.prefix(1).map { Array($0.jsonLines.utf8) }
            }
        ) { bytes in
            guard let trace = try? Trace(jsonLines: bytes) else { return false }
            // Times are rounded the first time.
            let written = try Trace(jsonLines: Array(trace.jsonLines.utf8))
            try require(
                try Trace(jsonLines: Array(written.jsonLines.utf8)) == written, "written and read it is another one")
            return true
        },
        FuzzTarget(
            name: "decision", tokens: json,
            samples: {
                var entry = JournalEntry(
                    moment: 800_000_000, kind: .start, job: .reindex(bundle: "com.example.notes"), score: 500)
                entry.reason = "it \"failed\""
                return [JournalLine(entry).json]
            }
        ) { bytes in
            guard let line = JournalLine(json: bytes) else { return false }
            let json = line.json
            guard json.count <= JournalLine.maximumBytes else { return true }
            // A year far from now is bounded when it is written.
            guard let written = JournalLine(json: json), var again = JournalLine(json: written.json)?.entry else {
                throw Broken("written it is invalid")
            }
            // The formatter truncates, so a time may lose a millisecond.
            let times = [(written.entry.moment, again.moment), (written.entry.until ?? 0, again.until ?? 0)]
            try require(times.allSatisfy { abs($0 - $1) < 0.002 }, "other times")
            (again.moment, again.until) = (written.entry.moment, written.entry.until)
            try require(
                JournalLine(again).json == written.json, "written as \(String(decoding: json, as: UTF8.self))")
            return true
        },
        FuzzTarget(
            name: "receiver", tokens: json + ["public.html", "text/plain", "inPlace", "set"],
            samples: {
                let profile = #"{"title": "Web", "accepts": ["public.url", "public.html"], "takes": ["data", "file"]}"#
                return [Array(profile.utf8)]
            }
        ) { bytes in
            do throws(ReceiverProblem) { _ = try ReceiverProfile(Data(bytes), name: "fuzz", path: nil) } catch {
                return false
            }
            return true
        },
        text(
            "desktopEntry", tokens: ["[", "]", "=", "\n", "\\;", ";", "#", "Exec", "%f", "[Desktop Entry]"],
            samples: [
                "[Desktop Entry]\nType=Application\nName=Editor\nName[de]=Schreiber\nExec=edit \"a b\" %f\nMimeType=text/plain;text/markdown;\n"
            ]
        ) { text in
            let file = DesktopFile(text)
            let values = ["Name", "Name[de]", "Exec", "MimeType"].map { file.text($0, in: "Desktop Entry") }
            try require(values.allSatisfy { ($0 ?? "").utf8.count <= text.utf8.count * 3 }, "more text than there is")
            return values[2] != nil
        },
        text(
            "launchURL", tokens: ["://", "file:", "%", " ", "mailto:", "\n"],
            samples: ["https://example.org/a?b=c#d", "mailto:anna@example.org", "x-app:open"]
        ) { text in
            guard let resource = LaunchResource(url: text) else { return false }
            let uri = resource.uri
            try require(!uri.hasPrefix("-") && uri.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F }, "opened as \(uri)")
            return true
        },
    ]
}
