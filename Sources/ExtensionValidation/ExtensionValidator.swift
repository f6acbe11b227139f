// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import UniformTypeIdentifiers

/// How an extension is checked.
public struct ValidationSettings: Sendable {
    /// What random choices are made from; the same seed makes the same ones.
    public var seed: UInt64
    /// Whether the extension is loaded into this process, for a debugger. A crash is this process's end then.
    public var isInProcess = false
    /// Told each line that the extension prints or logs; called on any thread.
    public var onLine: @Sendable (ValidationCheck, String) -> Void = { _, _ in }
    /// Told how many items a check has received, a few times a second; called on any thread.
    public var onItems: @Sendable (ValidationCheck, Int) -> Void = { _, _ in }
    /// How many items are wanted of an extension that has very many; 0 for all. An extension with pages is asked for no page beyond;
    /// others find the number in ``sampleVariable``.
    public var sampleItems = ValidationSettings.standardSampleItems

    /// How many items are wanted if nobody says so.
    public static let standardSampleItems = 2000
    /// The variable of the extension's environment that says how many items are wanted.
    public static let sampleVariable = WorkerConfiguration.sampleVariable

    /// How many items are asked about.
    var sampleSize = 12
    /// How often something is repeated to see whether memory grows.
    var rounds = 100
    /// How many wild identifiers are tried.
    var fuzzRounds = 120
    /// How long a check repeats something, once it has done so often enough to judge by.
    var repetitionTime = Duration.seconds(12)
    /// How long to wait for what must not happen.
    var quietTime = Duration.milliseconds(200)

    /// Settings with a seed.
    public init(seed: UInt64) { self.seed = seed }
}

/// Judges an extension: runs checks one after the other, each in a process of its own. Keeps nothing and touches no store.
public struct ExtensionValidator: Sendable {
    /// What is judged.
    public enum Subject: Sendable {
        /// A bundle that a host would use.
        case bundle(ExtensionBundle)
        /// One that it refuses.
        case refused(path: String, problem: BundleProblem)

        /// The bundle at a path.
        public init(path: String) {
            do throws(BundleProblem) { self = .bundle(try ExtensionBundle(at: path)) } catch {
                self = .refused(path: path, problem: error)
            }
        }

        /// Where it is.
        public var path: String {
            switch self {
            case .bundle(let bundle): bundle.path
            case .refused(let path, _): path
            }
        }
    }

    private let subject: Subject
    private var configuration: WorkerConfiguration
    private let settings: ValidationSettings

    /// Creates a judge.
    ///
    /// - Parameters:
    ///   - subject: What is judged.
    ///   - configuration: How its processes are started.
    ///   - settings: How it is checked.
    public init(_ subject: Subject, configuration: WorkerConfiguration, settings: ValidationSettings) {
        self.subject = subject
        self.configuration = configuration
        self.configuration.sampleItems = settings.sampleItems
        self.settings = settings
    }

    /// Runs checks.
    ///
    /// - Parameters:
    ///   - checks: Which, in any order; they run in the order of `ValidationCheck.allCases`.
    ///   - onBegin: Told before each of them.
    ///   - onEnd: Told after each of them. A thrown error ends the validation.
    /// - Returns: All reports.
    public func run(
        _ checks: Set<ValidationCheck>, onBegin: (ValidationCheck) -> Void = { _ in },
        onEnd: (CheckReport) throws -> Void
    ) async rethrows -> ValidationReport {
        var report = ValidationReport(path: subject.path, seed: settings.seed, isInProcess: settings.isInProcess)
        if case .bundle(let bundle) = subject {
            report.identifier = bundle.identifier
            // So that “conforms to” means what the manifest says.
            UTTypeRegistry.shared.register(bundle.manifest.typeDeclarations, ofBundle: bundle.identifier)
        }
        let whole = EventRecord(.manifest)
        var progress = Progress()
        var checks = checks
        // Without it nothing would be said of what is wrong.
        if case .refused = subject { checks.insert(.manifest) }
        for check in ValidationCheck.allCases where checks.contains(check) {
            onBegin(check)
            var result = CheckResult.passed
            let duration = await configuration.clock.measure {
                result = await self.result(of: check, among: checks, &progress, whole)
            }
            let one = CheckReport(
                check: check, result: result, duration: duration,
                isConsequence: progress.consequences.contains(check))
            report.checks.append(one)
            try onEnd(one)
        }
        return report
    }

    /// Runs checks, and tells nothing before they are done.
    public func run(_ checks: Set<ValidationCheck>) async -> ValidationReport { await run(checks, onEnd: { _ in }) }

    /// What is known by now.
    private struct Progress {
        var survey: Survey?
        /// The check that told that it cannot be loaded, and why.
        var unloadable: (check: ValidationCheck, error: ExtensionError)?
        /// The checks that were skipped because of what an earlier one has told.
        var consequences: Set<ValidationCheck> = []

        /// A check that is skipped for what an earlier one has told.
        mutating func skip(_ check: ValidationCheck, _ reason: String) -> CheckResult {
            consequences.insert(check)
            return .skipped(reason: reason)
        }

        /// What an error means that ended a check.
        mutating func result(_ error: ExtensionError, _ check: ValidationCheck, _ bundle: ExtensionBundle)
            -> CheckResult
        {
            if case .cannotLoad = error, unloadable == nil { unloadable = (check, error) }
            return CheckResult(error, check, bundle)
        }
    }

    private func result(
        of check: ValidationCheck, among checks: Set<ValidationCheck>, _ progress: inout Progress, _ whole: EventRecord
    ) async -> CheckResult {
        switch subject {
        case .refused(_, let problem):
            guard check == .manifest else { return progress.skip(check, "a host would refuse the bundle") }
            return .failed(
                reason: problem.description, advice: "Until this is mended, no host uses the extension.")
        case .bundle(let bundle):
            if check == .manifest { return ManifestReview(bundle).result }
            if settings.isInProcess && check.needsProcess {
                return .skipped(reason: "it needs a process of the extension's own; leave --in-process out")
            }
            var context = CheckContext(
                check: check, bundle: bundle, configuration: configuration, settings: settings,
                survey: progress.survey ?? Survey(), whole: whole)
            // What the sandbox refused may be the reason, and is told in any case.
            func tellsWhy() -> Bool { check == .sandbox && !whole.refusals.isEmpty }
            if let (teller, error) = progress.unloadable {
                guard tellsWhy() else {
                    return progress.skip(check, "it cannot be loaded (see \(teller.rawValue))")
                }
                context = context.with(Survey(problem: error))
            } else if check.needsSurvey {
                let survey = if let known = progress.survey { known } else { await Survey.make(context) }
                progress.survey = survey
                context = context.with(survey)
                if let problem = survey.problem, check != .acknowledgement, !tellsWhy() {
                    // Somebody has to say what went wrong: the check that is there for it, or this one.
                    guard checks.contains(.acknowledgement) else { return progress.result(problem, check, bundle) }
                    return progress.skip(
                        check, "its items are not known, since a reindex did not work (see acknowledgement)")
                }
            }
            do throws(ExtensionError) { return try await check.run(context) } catch {
                return progress.result(error, check, bundle)
            }
        }
    }
}

extension CheckContext {
    /// The same with what was found out meanwhile.
    func with(_ survey: Survey) -> CheckContext {
        CheckContext(
            check: check, bundle: bundle, configuration: configuration, settings: settings, survey: survey, whole: whole
        )
    }
}

extension CheckResult {
    /// What an error means that ended a check.
    init(_ error: ExtensionError, _ check: ValidationCheck, _ bundle: ExtensionBundle) {
        switch error {
        case .crashed:
            self = .crashed(
                reason: error.description,
                advice: """
                    Look at it in a debugger: gdb --args searchlight extensions validate \
                    \(bundle.path.shellWord) --in-process --only \(check.rawValue)
                    """)
        case .timedOut:
            self = .failed(
                reason: error.description,
                advice: """
                    Answer each request exactly once, in every case, also after an error, and do not wait for what may not \
                    come. During a long reindex donate, log or report progress now and then.
                    """)
        case .cannotLoad:
            self = .failed(
                reason: error.description, advice: "See “When it does not work” in docs/EXTENSIONS.md.")
        case .failed(_, _, let status, _):
            self = .failed(
                reason: error.description,
                advice: status == .tooLarge
                    ? "Stay below the limit that the message names."
                    : "It should not fail here. If it lacks something, say in the message what and how to get it.")
        case .malformedAnswer:
            self = .failed(reason: error.description, advice: "Answer with what the request asks for.")
        default: self = .failed(reason: error.description, advice: "Mend this first, and validate again.")
        }
    }
}

extension String {
    /// The text as one word of a shell's command line.
    package var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                    || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_./,:@%+=".utf8.contains(byte)
            }
        return isPlain ? self : "'\(replacing("'", with: "'\\''"))'"
    }
}
