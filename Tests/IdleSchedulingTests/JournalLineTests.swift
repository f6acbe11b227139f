// SPDX-License-Identifier: Apache-2.0
import IdleScheduling
import Testing

@Suite("Decisions as lines")
struct JournalLineTests {
    private func entry(_ kind: JournalEntry.Kind = .pause, at moment: Double = 793_967_000.25) -> JournalEntry {
        var entry = JournalEntry(
            moment: moment, kind: kind, job: .reindex(bundle: "org.example.notes"), gates: [.userActive, .ioPressure],
            score: 0.126)
        entry.until = moment + 60
        return entry
    }

    @Test("A line has the time, the decision, the job and the reason, in this form")
    func form() {
        #expect(
            String(decoding: JournalLine(entry()).json, as: UTF8.self) == """
                {"at":"2026-02-28T10:23:20.250Z","event":"pause","gates":["user-active","io-pressure"],\
                "job":"reindex:org.example.notes","score":0.13,"until":"2026-02-28T10:24:20.250Z"}
                """)
    }

    @Test("A reason of one endless character makes no endless line, and is readable")
    func endlessReason() throws {
        var written = entry(.fail)
        written.reason = "e" + String(repeating: "\u{301}", count: 50_000)
        let line = JournalLine(written).json
        #expect(line.count <= 4096)
        #expect(JournalLine(json: line)?.entry.reason?.unicodeScalars.first == "e")
    }

    @Test(
        "A written line is read unchanged",
        arguments: [
            JournalEntry.Kind.start, .wait, .pause, .resume, .stop, .done, .fail,
        ])
    func again(kind: JournalEntry.Kind) throws {
        var written = entry(kind)
        written.score = 0.13
        written.usage = Usage(cpu: 1.5, written: 4096, wakeUps: 7)
        written.reason = "It said “no”.\nTwice."
        #expect(try #require(JournalLine(json: JournalLine(written).json)).entry == written)
        written.job = .maintenance(.vacuum)
        #expect(try #require(JournalLine(json: JournalLine(written).json)).entry == written)
    }

    @Test("Impossible numbers are written as possible ones, and still make a line")
    func impossible() {
        for number in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
            var entry = entry(at: number)
            (entry.score, entry.until) = (number, number)
            entry.usage = Usage(cpu: number, written: .max, wakeUps: .max)
            #expect(JournalLine(json: JournalLine(entry).json) != nil, "\(number)")
        }
    }

    @Test(
        "An invalid line is not read",
        arguments: [
            "", "{}", "[]", #"{"at":"now","event":"wait","job":"reindex:a","score":0}"#,
            #"{"at":"2026-02-28T10:23:20.250Z","event":"sing","job":"reindex:a","score":0}"#,
            #"{"at":"2026-02-28T10:23:20.250Z","event":"wait","job":"","score":0}"#,
            #"{"at":"2026-02-28T10:23:20.250Z","event":"wait","job":"reindex:","score":0}"#,
        ])
    func noLine(text: String) { #expect(JournalLine(json: text.utf8) == nil) }

    @Test("A line that is too long is not read")
    func long() {
        let text = #"{"at":"2026-02-28T10:23:20.250Z","event":"wait","job":"reindex:a","score":0,"reason":""#
        #expect(JournalLine(json: (text + #""}"#).utf8) != nil)
        #expect(JournalLine(json: (text + String(repeating: "x", count: 20_000) + #""}"#).utf8) == nil)
    }

    @Test("A gate of a later version is skipped")
    func unknownGate() throws {
        let text =
            #"{"at":"2026-02-28T10:23:20.250Z","event":"wait","gates":["moon","hot"],"job":"reindex:a","score":0}"#
        #expect(try #require(JournalLine(json: text.utf8)).entry.gates == [.hot])
    }

    @Test("A job is also named by its bundle or its task alone")
    func names() {
        #expect(ScheduledJob.Key(name: "org.example") == .reindex(bundle: "org.example"))
        #expect(ScheduledJob.Key(name: "vacuum") == .maintenance(.vacuum))
        #expect(ScheduledJob.Key(name: "files:org.example") == .files(bundle: "org.example"))
        #expect(ScheduledJob.Key.files(bundle: "org.example").name == "files:org.example")
        #expect(ScheduledJob.Key(name: "files:") == nil)
        #expect(ScheduledJob.Key(name: "files:" + String(repeating: "x", count: 256)) == nil)
        #expect(ScheduledJob.Key(name: "reindex:vacuum") == .reindex(bundle: "vacuum"))
        #expect(ScheduledJob.Key(name: "maintenance:purge-expired") == .maintenance(.purgeExpired))
        #expect(ScheduledJob.Key(name: String(repeating: "x", count: 256)) == nil)
    }
}
