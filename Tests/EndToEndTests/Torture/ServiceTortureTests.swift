// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// The real service and its clients, with all fixtures installed, while everything around it fails
/// (Torture/Sources/ServiceTorture). `Scripts/torture` runs it longer, with all broken extensions.
@Suite("Torture, the service", .serialized)
struct ServiceTortureTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seconds = environment["SEARCHLIGHT_TORTURE_SECONDS"].flatMap { Int($0) }
    private static let replacements =
        environment["SEARCHLIGHT_TORTURE_REPLACEMENTS"].flatMap { Int($0) } ?? (seconds == nil ? 20 : 1000)
    /// The number of broken extensions. An ordinary test run uses only a few, because each must be
    /// compiled first.
    private static let brokenOnes = seconds == nil ? 12 : Int.max

    /// Extensions that need too much space on the small disk, or too much memory on a machine with
    /// other work.
    private static let unsuitable: Set = [
        "donations: many_in_one_call", "donations: many_calls", "promises: a_gibibyte", "previews: a_gibibyte",
        "promises: more_than_there_is",
    ]
    /// Fixtures that are not separate extensions, or that are installed differently.
    private static let others: Set = ["fixture", "ledger", "jobs", "versions"]

    private func install(in harness: Harness) throws {
        let fixtures = BuiltProducts.repository + "/Tests/Fixtures/Extensions"
        for name in try FileManager.default.contentsOfDirectory(atPath: fixtures).sorted() where name.hasSuffix(".c") {
            let fixture = String(name.dropLast(2))
            if !Self.others.contains(fixture) { _ = try harness.installFixture(fixture) }
        }
        for number in 0..<2 {
            try harness.install("org.example.ledger-\(number)", library: try CFixture.library("ledger"))
        }
        try harness.install("org.example.jobs", library: try CFixture.library("jobs", []))
        try harness.install("org.example.jobs-paged", library: try CFixture.library("jobs", ["JOBS_IN_PAGES"]))
        let versions = harness.folder + "/versions"
        try FileManager.default.createDirectory(atPath: versions, withIntermediateDirectories: true)
        for version in 0..<3 {
            let library = try CFixture.library("versions", ["VERSION=\"\(version)\""])
            try FileManager.default.copyItem(atPath: library, toPath: versions + "/\(version).so")
            try harness.install("org.example.versions-\(version)", library: library)
        }
        try FileManager.default.copyItem(
            atPath: try CFixture.library("crash-at-load"), toPath: versions + "/crash.so")
        let clock = try CFixture.library(
            source: BuiltProducts.repository + "/Tests/Fixtures/Torture/shifted-clock.c",
            options: ["-std=c11", "-D_GNU_SOURCE"])
        try FileManager.default.copyItem(atPath: clock, toPath: harness.folder + "/shifted-clock.so")
        try installFollowers(in: harness)
        try installApp(in: harness)
        let model = try TemporaryFolder()
        try TinyModel.ofWords(TinyModel.manyWords, synonyms: []).writeFiles(to: model)
        try FileManager.default.copyItem(atPath: model.path, toPath: harness.folder + "/model")
        var random = SplitMix64(seed: TortureSettings.seed)
        let suitable = BrokenExtension.tried.filter { !Self.unsuitable.contains($0.name) }
        for (number, broken) in suitable.shuffled(using: &random).prefix(Self.brokenOnes).enumerated() {
            try broken.install(in: harness, as: "org.example.broken-\(number)")
        }
    }

    /// Installs the extensions whose files change: notes, and the tasks in a database.
    private func installFollowers(in harness: Harness) throws {
        let notes = harness.folder + "/notes"
        try FileManager.default.createDirectory(atPath: notes, withIntermediateDirectories: true)
        let journal = try harness.installJournal(notes: notes)
        try harness.changeManifest(of: journal, "WatchedPaths", to: true)
        let task: [String: Any] = [
            "Name": "task", "Select": "SELECT id, title, body FROM task", "Key": "id",
            "Attributes": ["title": "{title}", "textContent": "{body}"],
        ]
        try harness.install(
            "org.example.tasks", library: nil,
            manifest: [
                "CFBundleExecutable": nil as Any?,
                "Searchlight": [
                    "ReadablePaths": ["~/tasks"], "Database": ["Files": ["~/tasks/tasks.db"], "Items": [task]],
                ],
            ])
    }

    /// Installs the app of the bundle `org.example.chosen`, which records each start.
    private func installApp(in harness: Harness) throws {
        let applications = harness.folder + "/data/applications"
        try FileManager.default.createDirectory(atPath: applications, withIntermediateDirectories: true)
        let program = harness.folder + "/chosen"
        try "#!/bin/sh\nprintf '%s\\n' \"$1\" >> '\(harness.folder)/openings'\n"
            .write(toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        try "[Desktop Entry]\nType=Application\nName=Chosen\nExec=\(program) %u\n"
            .write(toFile: applications + "/org.example.chosen.desktop", atomically: true, encoding: .utf8)
    }

    /// The command prefix that starts the torture in its own namespace, where it may mount file
    /// systems; empty if namespaces are forbidden. The namespace ends with the torture.
    private static func namespace() throws -> [String] {
        let choices = [["unshare", "-mpf"], ["unshare", "-rmpf"]].map { $0 + ["--mount-proc", "--kill-child"] }
        for choice in choices {
            let probe = try CFixture.run("/usr/bin/env", choice + ["/bin/sh", "-c", "mount -t tmpfs none /mnt"])
            if probe.status == 0 { return choice }
        }
        return []
    }

    // Not part of every test run yet, because the duration of the short form alongside the other
    // tests, and its time limits, have not been measured. SEARCHLIGHT_TORTURE_SECONDS=6 runs it.
    @Test(
        "With any fault, no acknowledged item is lost, and nothing is left behind",
        .enabled(if: seconds != nil, "Only in “make torture”."), .timeLimit(.minutes(30)))
    func everything() throws {
        let harness = try Harness()
        try install(in: harness)
        let seconds = Self.seconds ?? 6
        print("Service torture: \(seconds) s, seed \(TortureSettings.seed)")
        let arguments = [
            "run", harness.folder, BuiltProducts.folder, "\(seconds)", "\(Self.replacements)",
            "\(TortureSettings.seed)",
        ]
        let pipe = Pipe()
        let process = try ChildProcess(
            "/usr/bin/env", try Self.namespace() + [BuiltProducts.program("ServiceTorture")] + arguments,
            output: .pipe(pipe))
        // The output is printed during the run.
        var output = Data()
        while case let data = pipe.fileHandleForReading.availableData, !data.isEmpty {
            print(String(decoding: data, as: UTF8.self), terminator: "")
            output += data
        }
        let ending = process.wait()
        let lines = String(decoding: output, as: UTF8.self)
        let found = lines.split(separator: "\n").filter { $0.contains("VIOLATION") }.joined(separator: "\n")
        #expect(ending == .exited(0), "again with: \(TortureSettings.repetition)\n\(found)")
        #expect(lines.contains("invariants: all held"))
    }
}
