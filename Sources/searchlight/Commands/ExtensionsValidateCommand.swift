// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import CommandSupport
import ExtensionHost
import ExtensionValidation
import Foundation
import SearchlightEngine
import SystemSupport

/// Runs the validation checks, for extension authors.
struct ExtensionsValidateCommand: ReportingCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Check an extension: its donations, promises and previews, and its behavior after errors.",
        discussion: """
            BUNDLE is a .searchext folder or the identifier of an installed extension. Each check runs in a separate process, \
            with an index in memory; your index does not change. The extension does its ordinary work during a check, with \
            your data.

            For an extension that donates in pages, the checks request pages until the sample is complete (--items). Other \
            extensions get the size of the sample in the variable SEARCHLIGHT_SAMPLE_ITEMS.

            --in-process loads the extension into this process instead, for a debugger: without a sandbox, and a crash ends \
            this command. To stop at a crash: gdb --args searchlight extensions validate BUNDLE --in-process

            Exit status: 0 all checks passed, apart from warnings; 11 a check failed; 2 there is no such bundle.
            """)

    @Argument(help: ArgumentHelp("The extension.", valueName: "bundle"), completion: BundleNames.completion)
    var bundle: String?
    @Option(
        help: ArgumentHelp("Run only these checks, separated by commas; repeatable.", valueName: "check"))
    var only: [String] = []
    @Option(help: ArgumentHelp("Skip these checks, separated by commas; repeatable.", valueName: "check"))
    var skip: [String] = []
    @Option(
        help: ArgumentHelp(
            "Limit the sample to this many items; 0 checks all (default: \(ValidationSettings.standardSampleItems)).",
            valueName: "count"))
    var items: Int?
    @Option(help: "Repeat the random choices of the run that printed this seed.")
    var seed: UInt64?
    @Flag(help: "Load the extension into this process, for a debugger.")
    var inProcess = false
    @Flag(name: .shortAndLong, help: "Show the output and the log of the extension.")
    var verbose = false
    @Flag(help: "List the checks without running them.")
    var list = false
    @Option(
        name: .customLong("extensions"),
        help: ArgumentHelp("Search these folders for extensions first; separate several with colons.", valueName: "dir")
    )
    var extensionPath: String?
    @Flag(help: "Print JSON.")
    var json = false
    var printsJSON: Bool { json }

    func validate() throws {
        guard list || bundle?.isEmpty == false else {
            throw ValidationError("Name a .searchext folder or an extension's identifier.")
        }
        if let items, !(0...Self.maximumItems).contains(items) {
            throw ValidationError("--items takes a number from 0 to \(Self.maximumItems), not \(items).")
        }
        let checks = try checks
        guard list || !checks.isEmpty else {
            throw ValidationError(
                "--only and --skip leave no check to run. “searchlight extensions validate --list” lists them.")
        }
    }

    private static let maximumItems = 1_000_000

    private var checks: Set<ValidationCheck> {
        get throws {
            let wanted = try only.isEmpty ? Set(ValidationCheck.allCases) : Self.checks(only)
            return try wanted.subtracting(Self.checks(skip))
        }
    }

    private static func checks(_ texts: [String]) throws -> Set<ValidationCheck> {
        var found: Set<ValidationCheck> = []
        for text in texts.flatMap({ $0.split(separator: ",") }) {
            let name = text.trimmingCharacters(in: .whitespaces)
            guard let check = ValidationCheck(rawValue: name) else {
                let similar = ValidationCheck.suggestions(for: name).map(\.rawValue)
                throw ValidationError(
                    "There is no check \(name.prefix(80)). "
                        + (similar.isEmpty ? "" : "Did you mean \(similar.joined(separator: " or "))? ")
                        + "“searchlight extensions validate --list” lists them.")
            }
            found.insert(check)
        }
        return found
    }

    func perform() async throws {
        if list { return try showList() }
        if inProcess {
            try InProcess.prepare(frameworkFolder: Installation(environment: environment).frameworkFolder)
        }
        let subject = try subject()
        var settings = ValidationSettings(seed: seed ?? UInt64.random(in: 0...UInt64(UInt32.max)))
        settings.isInProcess = inProcess
        if let items { settings.sampleItems = items }
        // An extension in this process reads the variable from the process's environment.
        if inProcess, settings.sampleItems > 0 {
            setenv(ValidationSettings.sampleVariable, "\(settings.sampleItems)", 1)
        }
        if Output.showsProgress, !json, !verbose {
            settings.onItems = { check, count in
                Output.progress("\(dim: check.rawValue) … \(counted(count, "item"))")
            }
        }
        if verbose {
            settings.onLine = { check, line in Output.complain("\(dim: check.rawValue) | \(line)") }
        }
        let validator = ExtensionValidator(subject, configuration: configuration, settings: settings)
        let report = try await run(validator, settings, subject)
        if json { try Output.printJSON(report) } else { try summarise(report) }
        if !report.isGood { throw ExitCode(ExitStatus.checkFailed.rawValue) }
    }

    private func run(
        _ validator: ExtensionValidator, _ settings: ValidationSettings, _ subject: ExtensionValidator.Subject
    ) async throws -> ValidationReport {
        let (json, shows) = (json, Output.showsProgress && !json && !verbose)
        if !json {
            try Output.line("\(subject.path), seed \("\(settings.seed)")")
            if inProcess {
                try Output.line("In this process: no sandbox, and a crash ends the command.")
            }
        }
        // Checks that cannot run for the same reason, which was already reported, are summarized in
        // one line.
        var summarised: [(reason: String, count: Int)] = []
        func isSummarised(_ report: CheckReport) -> Bool {
            guard report.isConsequence, let reason = report.result.reason else { return false }
            if summarised.last?.reason == reason {
                summarised[summarised.count - 1].count += 1
            } else {
                summarised.append((reason, 1))
            }
            return true
        }
        let whole = try await validator.run(
            try checks,
            onBegin: { if shows { Output.progress("\(dim: $0.rawValue) …") } },
            onEnd: { report in
                if shows { Output.progress(nil) }
                if !json, !isSummarised(report) { try Self.show(report) }
            })
        for (reason, count) in summarised {
            let others = count == 1 ? "1 other check" : "\(count) other checks"
            try Output.line("\(dim: "skipped")  \(others): \(dim: reason)")
        }
        return whole
    }

    private static func show(_ report: CheckReport) throws {
        let seconds = Double(report.duration.components.seconds) + Double(report.duration.components.attoseconds) / 1e18
        let time = seconds >= 0.05 ? String(format: "  %.1f s", seconds) : ""
        let name = report.check.rawValue
        switch report.result {
        case .passed: try Output.line("\(good: "passed")   \(name)\(dim: time)")
        case .skipped(let reason): try Output.line("\(dim: "skipped")  \(name): \(dim: reason)")
        case .warning: try Output.line("\(found: "warning")  \(name)\(dim: time)")
        case .failed: try Output.line("\(bad: "failed")   \(name)\(dim: time)")
        case .crashed: try Output.line("\(bad: "crashed")  \(name)\(dim: time)")
        }
        guard let advice = report.result.advice, let reason = report.result.reason else { return }
        for line in Output.tidied(reason).split(separator: "\n") { try Output.line("    \(String(line))") }
        for line in Output.tidied(advice).split(separator: "\n") { try Output.line("    \(dim: "→ " + line)") }
    }

    private func summarise(_ report: ValidationReport) throws {
        let counts = CheckResult.Kind.allCases.compactMap { kind -> String? in
            let count = report.count(kind)
            return count > 0 ? "\(count) \(kind == .warning && count > 1 ? "warnings" : kind.rawValue)" : nil
        }
        try Output.line("\(bold: counts.isEmpty ? "No check was run." : counts.joined(separator: ", ") + ".")")
        if !report.isGood {
            try Output.line("To repeat this run: \(command(seed: report.seed))")
        }
    }

    /// Returns the command that repeats this validation.
    private func command(seed: UInt64) -> String {
        var words = ["searchlight", "extensions", "validate", bundle ?? ""]
        if let extensionPath { words += ["--extensions", extensionPath] }
        if let items { words += ["--items", "\(items)"] }
        words += only.flatMap { ["--only", $0] } + skip.flatMap { ["--skip", $0] }
        if inProcess { words.append("--in-process") }
        return (words + ["--seed", "\(seed)"]).map(\.shellWord).joined(separator: " ")
    }

    private func showList() throws {
        if json {
            return try Output.printJSON(ValidationCheck.allCases.map { ["name": $0.rawValue, "summary": $0.summary] })
        }
        let width = ValidationCheck.allCases.map(\.rawValue.count).max() ?? 0
        for check in ValidationCheck.allCases {
            try Output.line(
                "\(bold: check.rawValue.padding(toLength: width + 2, withPad: " ", startingAt: 0))\(check.summary)")
        }
    }
}

extension ExtensionsValidateCommand {
    private var environment: [String: String] { ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty } }

    private var registry: ExtensionRegistry { ExtensionRegistry(searchPath: searchPath) }

    private var searchPath: [String] {
        let explicit = (extensionPath ?? environment["SEARCHLIGHT_EXTENSION_PATH"]).map { path in
            path.split(separator: ":").map { absolute(String($0)) }.joined(separator: ":")
        }
        return ExtensionRegistry.standardSearchPath(explicit: explicit, environment: environment)
    }

    /// The start parameters of the worker processes, or of the extension within this process.
    private var configuration: WorkerConfiguration {
        let installation = Installation(environment: environment)
        var configuration = WorkerConfiguration(
            workerPath: installation.workerPath, frameworkFolder: installation.frameworkFolder, environment: environment
        )
        // Uses the same protection as the engine.
        configuration.protectedFolders.append(StoreLocation(environment: environment).folder)
        configuration.trustedFolders += searchPath
        if inProcess { configuration.startInProcess = InProcess.start }
        return configuration
    }

    /// Returns the advice for a folder that is a project, as “extensions new” makes it, instead of
    /// a bundle; `nil` for another folder.
    private func bundle(ofProject path: String) -> String? {
        guard !path.hasSuffix(ExtensionBundle.suffix) else { return nil }
        let bundles = ["", "/build"].lazy.compactMap { folder -> String? in
            let names = try? FileManager.default.contentsOfDirectory(atPath: path + folder)
            return names?.filter { $0.hasSuffix(ExtensionBundle.suffix) }.min().map { path + folder + "/" + $0 }
        }
        if let bundle = bundles.first {
            return
                "\(path) is not a bundle. Validate the bundle in it: searchlight extensions validate \(bundle.shellWord)"
        }
        guard FileManager.default.fileExists(atPath: path + "/Makefile") else { return nil }
        return "\(path) is not a bundle. To build the bundle and validate it: make -C \(path.shellWord) validate"
    }

    /// Returns the subject of the validation: a folder, or an installed extension.
    private func subject() throws -> ExtensionValidator.Subject {
        let registry = registry
        // This extension may import types that other extensions declare.
        registry.registerTypes()
        let text = bundle ?? ""
        var isFolder: ObjCBool = false
        let path = absolute(text)
        if text.contains("/") || text.hasSuffix(ExtensionBundle.suffix)
            || (!ExtensionManifest.isIdentifier(text) && FileManager.default.fileExists(atPath: path))
        {
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
                throw CommandFailure(
                    message: "There is no folder \(path). Name a .searchext folder, or an extension's identifier.",
                    status: .notFound)
            }
            if let bundle = bundle(ofProject: path) { throw CommandFailure(message: bundle, status: .usage) }
            return ExtensionValidator.Subject(path: path)
        }
        do throws(ExtensionError) { return .bundle(try registry.bundle(text)) } catch {
            if case .refused(let path, let problem) = error { return .refused(path: path, problem: problem) }
            throw EngineError.extension(error)
        }
    }
}
