// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Foundation
import Glibc
import SystemSupport
import TestSupport
import Testing

@testable import ExtensionValidation

/// “searchlight extensions validate”: its output, its exit status, and its errors for wrong input.
@Suite("The validate command", .timeLimit(.minutes(10)))
struct ValidateCommandTests {
    private let command: Command

    init() throws { command = Command(harness: try Harness()) }

    @Test("A well-behaved extension: one line for each check, a summary, status 0")
    func good() throws {
        let bundle = try ValidatorSubject.good.install(command.harness)
        let (status, output) = try command(
            "extensions", "validate", bundle, "--skip", ValidationCheck.skipped, "--seed", "5")
        #expect(status == 0, "\(output)")
        let lines = output.split(separator: "\n").map(String.init)
        #expect(lines.first == "\(bundle), seed 5")
        #expect(lines.last == "\(ValidationCheck.judgeable.count - 1) passed, 1 skipped.")
        #expect(lines.count == ValidationCheck.judgeable.count + 2)
        #expect(lines.contains("passed   promises") || output.contains("passed   promises  "), "\(output)")
        #expect(output.contains("skipped  paging: it does not serve searchlight.paging/1\n"))
    }

    @Test("A broken one: the reason and the advice below the check, the command to repeat it, status 11")
    func broken() throws {
        try ValidatorSubject.liar.install(command.harness)
        let identifier = ValidatorSubject.liar.identifier
        let (status, output, errors) = try command.separately(
            "extensions", "validate", identifier, "--only", "promises,previews", "--seed", "9")
        #expect(status == 11 && errors.isEmpty, "\(output)\(errors)")
        #expect(
            output.contains(
                """
                    "alpha" as data of type public.html: it is text without a single HTML element.

                """), "\(output)")
        #expect(output.contains("\n    → Provide data of this type, or promise the actual type.\n"))
        #expect(output.contains("1 passed, 1 failed.\n"))
        #expect(
            output.hasSuffix(
                "To repeat this run: searchlight extensions validate \(identifier) --only promises,previews --seed 9\n"),
            "\(output)")
        let terminal = try command.onTerminal("extensions", "validate", identifier, "--only", "promises")
        #expect(terminal.output.contains("\u{1B}[1;31mfailed"))
    }

    @Test("A project folder leads to its bundle, or to the command that builds it")
    func project() throws {
        let folder = command.harness.folder + "/it's here"
        let made = try command("extensions", "new", "com.example.recipes", "-l", "c", "-d", folder)
        #expect(made.status == 0, "\(made)")
        let unbuilt = try command("extensions", "validate", folder)
        #expect(unbuilt.status == 64 && unbuilt.output.contains("make -C \(folder.shellWord) validate"), "\(unbuilt)")
        let bundle = folder + "/build/com.example.recipes.searchext"
        try FileManager.default.createDirectory(atPath: bundle, withIntermediateDirectories: true)
        let built = try command("extensions", "validate", folder)
        #expect(
            built.status == 64 && built.output.hasSuffix(": searchlight extensions validate \(bundle.shellWord)\n"),
            "\(built)")
    }

    @Test("The printed commands can be typed unchanged, with any name of the bundle's folder")
    func commands() throws {
        let bundle = try ValidatorSubject.liar.install(command.harness)
        let folder = command.harness.folder + "/it's here"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let moved = folder + "/" + URL(filePath: bundle).lastPathComponent
        try FileManager.default.moveItem(atPath: bundle, toPath: moved)
        let (_, output) = try command(
            "extensions", "validate", moved, "--only", "promises", "--skip", "misuse,sandbox", "--seed", "9")
        let line = try #require(output.split(separator: "\n").last).dropFirst("To repeat this run: searchlight".count)
        #expect(line.hasSuffix(" --only promises --skip misuse,sandbox --seed 9"), "\(output)")
        let again = try command.shell("\"$SEARCHLIGHT\"\(line)")
        #expect(again.status == 11 && again.output.contains("it is text without"), "\(again.output)")
    }

    @Test("A sample of very many items is selected with --items, which the printed command repeats")
    func items() throws {
        let identifier = ValidatorSubject.liar.identifier
        try ValidatorSubject.liar.install(command.harness)
        let (_, output) = try command("extensions", "validate", identifier, "--only", "promises", "--items", "300")
        #expect(output.contains(" --items 300 --only promises --seed "), "\(output)")
        let wrong = try command("extensions", "validate", identifier, "--items", "1000001")
        #expect(wrong.status == 64, "\(wrong.output)")
        #expect(wrong.output.contains("--items takes a number from 0 to 1000000"), "\(wrong.output)")
    }

    @Test("The command for a debugger names the bundle")
    func debugger() throws {
        let bundle = try ValidatorSubject.crashing.install(command.harness)
        let (status, output) = try command("extensions", "validate", bundle, "--only", "previews")
        #expect(status == 11 && output.contains("crashed  "), "\(output)")
        #expect(output.contains("gdb --args searchlight extensions validate \(bundle) --in-process"), "\(output)")
    }

    @Test("JSON has the same, with stable keys")
    func json() throws {
        try ValidatorSubject.liar.install(command.harness)
        let report = try #require(
            try command.json(
                "extensions", "validate", ValidatorSubject.liar.identifier, "--only", "promises", "--only", "manifest",
                "--seed", "18446744073709551615", expecting: 11) as? [String: Any])
        #expect(Set(report.keys) == ["path", "identifier", "seed", "inProcess", "good", "counts", "checks"])
        #expect(report["seed"] as? String == "18446744073709551615" && report["good"] as? Bool == false)
        let counts = try #require(report["counts"] as? [String: Int])
        #expect(counts == ["passed": 1, "warning": 0, "failed": 1, "crashed": 0, "skipped": 0])
        let checks = try #require(report["checks"] as? [[String: Any]])
        #expect(checks.compactMap { $0["name"] as? String } == ["manifest", "promises"])
        #expect(Set(try #require(checks.last).keys) == ["name", "result", "reason", "advice", "seconds"])
        #expect(Set(try #require(checks.first).keys) == ["name", "result", "seconds"])
    }

    @Test("A bundle that a host rejects fails the check of its manifest, with the reason")
    func refused() throws {
        let bundle = try ValidatorSubject.good.install(
            command.harness, manifest: ["CFBundleExecutable": "missing.so", "CFBundleDisplayName": "Sheets"])
        for name in [bundle, ValidatorSubject.good.identifier] {
            let (status, output) = try command("extensions", "validate", name)
            #expect(status == 11, "\(output)")
            #expect(output.contains("failed   manifest") && output.contains("missing.so"), "\(output)")
            #expect(output.contains("1 failed, \(ValidationCheck.allCases.count - 1) skipped.\n"))
            #expect(output.components(separatedBy: "skipped  ").count == 2, "\(output)")
            #expect(
                output.contains(
                    "skipped  \(ValidationCheck.allCases.count - 1) other checks: a host would refuse the bundle\n"))
        }
        let report = try #require(
            try command.json("extensions", "validate", bundle, expecting: 11) as? [String: Any])
        #expect((report["checks"] as? [Any])?.count == ValidationCheck.allCases.count)
        // A rejected bundle fails, regardless of the selected checks.
        #expect(try command("extensions", "validate", bundle, "--only", "promises").status == 11)
    }

    @Test(
        "Checks that are impossible for one reason are reported in one line; a reindex that the sandbox stopped says so"
    )
    func consequences() throws {
        let bundle = try ValidatorSubject.lockedOut.install(command.harness)
        try Data("x".utf8).write(to: URL(filePath: command.harness.folder + "/secret"))
        let (status, output) = try command("extensions", "validate", bundle, "--skip", ValidationCheck.skipped)
        #expect(status == 11 && output.contains("the sheets cannot be read"), "\(output)")
        #expect(output.contains("failed   sandbox") && output.contains("tried to read "), "\(output)")
        #expect(output.contains(" other checks: its items are unknown"), "\(output)")
        #expect(output.components(separatedBy: "skipped  ").count == 2, "\(output)")
        let point = ["NSExtensionPointIdentifier": "com.apple.spotlight.index", "NSExtensionPrincipalClass": "A.B"]
        let other = try ValidatorSubject.good.install(
            command.harness, manifest: ["CFBundleDisplayName": "Sheets", "NSExtension": point])
        let unloadable = try command("extensions", "validate", other)
        #expect(unloadable.status == 11, "\(unloadable.output)")
        #expect(unloadable.output.contains("could not be loaded"), "\(unloadable.output)")
        let others =
            "skipped  \(ValidationCheck.allCases.count - 2) other checks: it cannot be loaded (see load-time)\n"
        #expect(unloadable.output.contains(others), "\(unloadable.output)")
    }

    @Test("Folders of extensions are not writable here either, with any manifest")
    func trustedFolders() throws {
        try FileManager.default.createSymbolicLink(
            atPath: command.harness.folder + "/Documents/extensions", withDestinationPath: command.harness.extensions)
        try ValidatorSubject.planting.install(
            command.harness,
            manifest: [
                "CFBundleDisplayName": "Sheets", "Searchlight": ["WritablePaths": ["$XDG_DOCUMENTS_DIR/extensions"]],
            ])
        let (status, output) = try command(
            "extensions", "validate", ValidatorSubject.planting.identifier, "--only", "sandbox,quiet-creation")
        #expect(status == 11 && output.contains("tried to change "), "\(output)")
        #expect(!FileManager.default.fileExists(atPath: command.harness.extensions + "/planted"))
    }

    @Test("No key in docs/EXTENSIONS.md is reported as unknown")
    func documentedKeys() throws {
        let bundle = try ValidatorSubject.good.install(
            command.harness,
            manifest: [
                "Searchlight": [
                    "ReadablePaths": ["~/Recipes"], "WritablePaths": ["$XDG_DOCUMENTS_DIR/Recipes"],
                    "ReadablePathsFrom": ["$XDG_CONFIG_HOME/org.example.recipes.search/folders"],
                    "AllowsNetwork": false,
                    "MemoryLimit": 268_435_456, "DesktopEntry": "org.example.recipes.desktop",
                ] as [String: Any]
            ])
        let review = ManifestReview(try #require(ExtensionValidator.Subject(path: bundle).accepted))
        #expect(!review.findings.reasons.contains { $0.contains("has no effect") }, "\(review.findings.reasons)")
    }

    @Test("Advice on a manifest is a warning, not a failure")
    func manifest() throws {
        let bundle = try ValidatorSubject.good.install(
            command.harness,
            manifest: [
                "CFBundleVersion": nil, "CFBundleDisplayNames": "Sheets", "DTXcode": "1500",
                "Searchlight": [
                    "ReadablePath": ["~/a"], "ReadablePaths": ["~/.mozilla"],
                    "WritablePaths": ["$XDG_PICTURES_DIR/b", "~/Music", "$XDG_VIDEOS_DIR"],
                ],
                "UTExportedTypeDeclarations": [
                    ["UTTypeIdentifier": "com.example.sheet", "UTTypeConformsTo": "com.example.no"]
                ],
            ])
        let moved = command.harness.folder + "/other.searchext"
        try FileManager.default.moveItem(atPath: bundle, toPath: moved)
        let (status, output) = try command("extensions", "validate", moved, "--only", "manifest")
        #expect(status == 0, "\(output)")
        for text in ["no CFBundleDisplayName", "no CFBundleVersion", "not named com.example.subject0", "more"] {
            #expect(output.contains(text), "\(text): \(output)")
        }
        let whole = ManifestReview(try #require(ExtensionValidator.Subject(path: moved).accepted)).findings.reasons
        for text in [
            "CFBundleDisplayNames", "Searchlight.ReadablePath, ", "com.example.no", "$HOME/.mozilla, which",
            "It can change everything in $HOME/Music, $XDG_VIDEOS_DIR, including",
        ] {
            #expect(whole.contains { $0.contains(text) }, "\(text): \(whole)")
        }
        #expect(!whole.contains { $0.contains("DTXcode") })
    }

    @Test("Wrong input: a missing path, an unknown check, nothing at all")
    func wrongInput() throws {
        #expect(try command("extensions", "validate", "com.example.none").status == 2)
        let folder = try command("extensions", "validate", command.harness.folder + "/none.searchext")
        #expect(folder.status == 2 && folder.output.contains("There is no folder"), "\(folder.output)")
        let misspelled = try command("extensions", "validate", "com.example.none", "--only", "promises,cancelation")
        #expect(
            misspelled.status == 64 && misspelled.output.contains("Did you mean cancellation?"), "\(misspelled.output)")
        #expect(try command("extensions", "validate").status == 64)
        let none = try command("extensions", "validate", "com.example.none", "--only", "promises", "--skip", "promises")
        #expect(none.status == 64 && none.output.contains("leave no check to run"), "\(none.output)")
        #expect(try command("extensions", "validate", "com.example.none", "--seed", "x").status == 64)
        let list = try command("extensions", "validate", "--list")
        #expect(list.status == 0)
        for check in ValidationCheck.allCases { #expect(list.output.contains(check.rawValue)) }
    }

    @Test("The output of the extension is shown with --verbose, safe for a terminal")
    func verbose() throws {
        let bundle = try ValidatorSubject.endless.install(command.harness)
        let (_, output, errors) = try command.separately(
            "extensions", "validate", bundle, "--only", "acknowledgement", "--verbose")
        #expect(errors.contains("acknowledgement | at it\n") && !output.contains("at it"), "\(errors)")
    }

    @Test("In this process, it reports that and has the same findings")
    func inProcess() throws {
        let bundle = try ValidatorSubject.liar.install(command.harness)
        let (status, output) = try command(
            "extensions", "validate", bundle, "--in-process", "--only", "promises,memory-growth")
        #expect(status == 11, "\(output)")
        #expect(output.contains("In this process: no sandbox") && output.contains("failed   promises"))
        #expect(output.contains("skipped  memory-growth: it needs a separate process"))
    }

    @Test("An interrupt ends it and the extension's process")
    func interrupt() async throws {
        let bundle = try ValidatorSubject.silent.install(command.harness)
        let process = try ChildProcess(
            BuiltProducts.program("searchlight"),
            ["extensions", "validate", bundle, "--only", "acknowledgement"], environment: command.environment)
        var workers: [ProcessView] = []
        while process.isRunning, workers.isEmpty {
            workers = ProcessView(identifier: process.identifier).descendants
            try await Task.sleep(for: .milliseconds(1))
        }
        process.send(SIGINT)
        #expect(process.wait() == .killed(SIGINT))
        #expect(!workers.isEmpty)
        // Killed processes disappear a moment later. Otherwise the suite's time limit fails the
        // test.
        while workers.contains(where: \.isAlive), !Task.isCancelled { try await Task.sleep(for: .milliseconds(1)) }
        #expect(workers.filter(\.isAlive).isEmpty)
    }
}

extension ExtensionValidator.Subject {
    /// The bundle, if a host would use it.
    fileprivate var accepted: ExtensionBundle? { if case .bundle(let bundle) = self { bundle } else { nil } }
}
