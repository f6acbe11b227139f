// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Synchronization

/// The counts, peaks and violations of a run.
final class TortureReport: Sendable {
    private struct State {
        var counts: [String: Int] = [:]
        var peaks: [String: Int] = [:]
        var violations: [String] = []
    }
    private let state = Mutex(State())
    private let begin = ContinuousClock.now

    func count(_ name: String, _ number: Int = 1) { state.withLock { $0.counts[name, default: 0] += number } }
    func note(_ name: String, peak value: Int) {
        state.withLock { $0.peaks[name] = max($0.peaks[name] ?? value, value) }
    }
    func count(of name: String) -> Int { state.withLock { $0.counts[name] ?? 0 } }

    /// Records a violation.
    func complain(_ text: String) {
        state.withLock { $0.violations.append(text) }
        say("VIOLATION: \(text)")
    }

    /// Prints a message with the elapsed time, to show progress.
    func say(_ text: String) {
        let seconds = Int((ContinuousClock.now - begin) / .seconds(1))
        // An unbuffered write, unlike `print`.
        let line = Array("  \(seconds) s: \(text)\n".utf8)
        _ = write(STDOUT_FILENO, line, line.count)
    }

    var hasFailed: Bool { state.withLock { !$0.violations.isEmpty } }

    /// Adds the counts and violations from the client logs.
    func read(_ place: TorturePlace) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place.logs))?.sorted() ?? [] {
            guard name.hasPrefix("client-"),
                let text = try? String(contentsOfFile: place.logs + "/" + name, encoding: .utf8)
            else { continue }
            for line in text.split(separator: "\n") {
                if line.hasPrefix("counted ") { count(String(line.dropFirst(8))) }
                if line.hasPrefix("acknowledged ") { count("donations acknowledged") }
                if line.hasPrefix("ledger ") { count("reindexes of a ledger acknowledged") }
                if line.hasPrefix("FAILED ") { complain("\(name): \(line.dropFirst(7))") }
            }
        }
    }

    /// The whole report as text.
    var summary: String {
        state.withLock { state in
            func list(_ title: String, _ names: [(String, Int)]) -> [String] {
                guard !names.isEmpty else { return [] }
                return ["  \(title): " + names.map { "\($0.1) \($0.0)" }.joined(separator: ", ")]
            }
            let groups = Dictionary(grouping: state.counts.sorted { $0.key < $1.key }) { entry in
                entry.key.contains(": ") ? String(entry.key.prefix { $0 != ":" }) : ""
            }
            var lines = ["Service torture:"]
            lines += list("done", groups[""]?.map { ($0.key, $0.value) } ?? [])
            for (group, entries) in groups.sorted(by: { $0.key < $1.key }) where !group.isEmpty {
                lines += list(group, entries.map { (String($0.key.dropFirst(group.count + 2)), $0.value) })
            }
            lines += list("at most", state.peaks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
            lines.append(
                "  invariants: \(state.violations.isEmpty ? "all held" : "\(state.violations.count) VIOLATIONS")")
            return lines.joined(separator: "\n")
        }
    }
}
