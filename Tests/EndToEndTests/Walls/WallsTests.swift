// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import SearchlightEngine
import Testing

/// Several hundred escape attempts by an ordinary user's extension. None succeeds, and each is
/// reported. Tests/Fixtures/Extensions/walls.c contains the attempts and the expected reports.
@Suite("The walls", .timeLimit(.minutes(20)))
struct WallsTests {
    /// The groups of attempts. Each group has its own worker, because the host reports at most 64
    /// different attempts per worker.
    private static let long = [
        "read", "read-places", "list", "write", "write-own", "make", "move", "special", "attributes", "modes",
        "proc-host",
        "proc-init", "proc-links", "signals", "priorities", "tracing", "tables", "programs", "namespaces", "keys",
        "identity",
        "prctl", "descriptors", "unknown", "x32", "i386", "code", "sockets-1", "sockets-2", "pairs", "offline",
        "loopback",
        "servers", "per-user", "memory", "disk", "in-flight", "bytes", "bytes-removed", "bytes-nameless", "bytes-deep",
        "bytes-mapped",
    ]
    /// Groups without varying parts, and without attempts that use resources of the whole machine.
    private static let short: Set = [
        "read", "write", "make", "modes", "proc-host", "signals", "priorities", "tracing", "tables", "programs", "keys",
        "code",
        "pairs", "loopback", "servers",
    ]
    private static let isLong = ProcessInfo.processInfo.environment["SEARCHLIGHT_WALLS"] == "long"
    /// The groups that may use the network. They may not connect to this machine's own addresses
    /// either.
    private static let online: Set = ["loopback", "servers"]
    /// The minimum number of attempts, so that none is lost unnoticed.
    private static let leastLong = 1000
    private static let leastShort = 400

    private struct Attempt {
        var code: String
        var expected: String
        var name: String
        var hasGained: Bool { code == "0" }
    }

    private func attempts(_ harness: Harness, _ bundle: String) -> [Attempt] {
        let path = harness.marks + "/\(bundle).searchext.results"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").map { line in
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            return parts.count == 3
                ? Attempt(code: parts[0], expected: parts[1], name: parts[2])
                : Attempt(code: "end", expected: "", name: String(line))
        }
    }

    @Test("withstand every attempt, and each attempt is reported")
    func everything() async throws {
        let harness = try Harness()
        let surroundings = try WallSurroundings(harness)
        let library = try CFixture.library("walls")
        let user = try OrdinaryUser(harness)
        var (count, told) = (0, 0)
        var (gained, untold): ([String], [String]) = ([], [])
        var outputs: [String: String] = [:]
        let groups = Self.isLong ? Self.long : Self.long.filter(Self.short.contains)
        for group in groups {
            let bundle = Self.bundle(group)
            try harness.install(
                bundle, library: library,
                manifest: [
                    "Searchlight": [
                        "WritablePaths": ["$XDG_DOCUMENTS_DIR/marks"], "MemoryLimit": 64 << 20,
                        "AllowsNetwork": Self.online.contains(group),
                    ] as [String: Any]
                ])
            try surroundings.prepare(group, bundle: bundle)
            outputs[group] = try user("reindex", "--verbose", bundle).output
            #expect(surroundings.isUntouched(), "\(group) changed what another app has")
        }
        try user.giveBack()
        let history = try await harness.statusOfAnother().sandbox.history
        for group in groups {
            let bundle = Self.bundle(group)
            let refusals = (history.bundles[bundle]?.refusals ?? []).map(\.refusal)
            let lines = attempts(harness, bundle)
            // The attempt that terminates the worker is the last one.
            if let last = lines.last, last.code == "?", last.expected.hasPrefix("! ") {
                let isTold = outputs[group]?.contains(last.expected.dropFirst(2)) == true
                #expect(isTold, "\(group) ended otherwise: \(outputs[group] ?? "")")
                (count, told) = (count + 1, told + (isTold ? 1 : 0))
            } else {
                #expect(lines.last?.name == "end", "\(group) did not end: \(outputs[group] ?? "")")
            }
            var refused: [String: [String]] = [:]
            for attempt in lines where attempt.code != "?" && attempt.code != "end" {
                count += 1
                if attempt.hasGained {
                    gained.append(attempt.name)
                } else if !attempt.expected.hasPrefix("- ") {
                    refused[attempt.expected, default: []].append(attempt.name)
                }
            }
            // Several attempts may appear as one report with a count.
            for (text, names) in refused {
                let times = refusals.filter { $0.description.contains(text) }.reduce(0) { $0 + $1.count }
                told += min(times, names.count)
                if times < names.count {
                    let list = names.joined(separator: ", ")
                    untold.append("\(names.count - times) of \(names.count) as “\(text)”: \(list)")
                }
            }
        }
        print("Walls: \(count) attempts, \(gained.count) gained, \(told) reported")
        if !untold.isEmpty {
            for group in groups {
                let known = history.bundles[Self.bundle(group)]?.refusals ?? []
                print("REPORTED  \(group): \(known.map { "\($0.refusal.description) (\($0.refusal.count))" })")
            }
        }
        for name in gained { print("GAINED  \(name)") }
        for name in untold { print("UNTOLD  \(name)") }
        #expect(gained.isEmpty && untold.isEmpty)
        #expect(count >= (Self.isLong ? Self.leastLong : Self.leastShort))
    }

    private static func bundle(_ group: String) -> String { "com.example.walls.\(group)" }
}
