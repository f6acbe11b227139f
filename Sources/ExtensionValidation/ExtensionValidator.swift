// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SystemSupport
import UniformTypeIdentifiers

/// The settings for a validation.
public struct ValidationSettings: Sendable {
    /// The seed for all random choices. Equal seeds give equal choices.
    public var seed: UInt64
    /// `true` to load the extension into this process, for a debugger. A crash then terminates this
    /// process.
    public var isInProcess = false
    /// Called with each line that the extension prints or logs, on any thread.
    public var onLine: @Sendable (ValidationCheck, String) -> Void = { _, _ in }
    /// Called with the number of items that a check has received, a few times a second, on any
    /// thread.
    public var onItems: @Sendable (ValidationCheck, Int) -> Void = { _, _ in }
    /// The number of items that suffice in a full reindex; 0 for all. A paged reindex ends after
    /// this number. Other extensions can read the number from ``sampleVariable``.
    public var sampleItems = ValidationSettings.standardSampleItems

    /// The default for ``sampleItems``.
    public static let standardSampleItems = 2000
    /// The environment variable that passes ``sampleItems`` to the extension.
    public static let sampleVariable = WorkerConfiguration.sampleVariable

    /// The number of items in a sample.
    var sampleSize = 12
    /// The number of rounds in checks of memory and other resources.
    var rounds = 100
    /// The number of hostile identifiers to try.
    var fuzzRounds = 120
    /// The time after which a check stops repeating, if it has completed the minimum number of
    /// rounds.
    var repetitionTime = Duration.seconds(12)
    /// The time to wait for events that must not happen.
    var quietTime = Duration.milliseconds(200)

    /// Creates settings with a seed.
    public init(seed: UInt64) { self.seed = seed }
}

/// Validates an extension. Runs checks one after another, each in its own process. Stores nothing
/// and does not use the user's index.
public struct ExtensionValidator: Sendable {
    /// The subject of a validation.
    public enum Subject: Sendable {
        /// A bundle that hosts accept.
        case bundle(ExtensionBundle)
        /// A bundle that hosts reject.
        case refused(path: String, problem: BundleProblem)

        /// Reads the bundle at a path.
        public init(path: String) {
            do throws(BundleProblem) { self = .bundle(try ExtensionBundle(at: path)) } catch {
                self = .refused(path: path, problem: error)
            }
        }

        /// The path of the bundle.
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

    /// Creates a validator.
    ///
    /// - Parameters:
    ///   - subject: The extension.
    ///   - configuration: The configuration for its worker processes.
    ///   - settings: The settings for the checks.
    public init(_ subject: Subject, configuration: WorkerConfiguration, settings: ValidationSettings) {
        self.subject = subject
        self.configuration = configuration
        self.configuration.sampleItems = settings.sampleItems
        self.settings = settings
    }

    /// Runs checks.
    ///
    /// - Parameters:
    ///   - checks: The checks, which run in the order of `ValidationCheck.allCases`.
    ///   - onBegin: Called before each check.
    ///   - onEnd: Called after each check. If it throws an error, the validation ends.
    /// - Returns: The report on all checks.
    public func run(
        _ checks: Set<ValidationCheck>, onBegin: (ValidationCheck) -> Void = { _ in },
        onEnd: (CheckReport) throws -> Void
    ) async rethrows -> ValidationReport {
        var report = ValidationReport(path: subject.path, seed: settings.seed, isInProcess: settings.isInProcess)
        if case .bundle(let bundle) = subject {
            report.identifier = bundle.identifier
            // Registered so that “conforms to” includes the manifest's types.
            UTTypeRegistry.shared.register(bundle.manifest.typeDeclarations, ofBundle: bundle.identifier)
        }
        let whole = EventRecord(.manifest)
        var progress = Progress()
        var checks = checks
        // Without the manifest check, no reason would be reported for a rejected bundle.
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

    /// Runs checks and returns the report at the end.
    public func run(_ checks: Set<ValidationCheck>) async -> ValidationReport { await run(checks, onEnd: { _ in }) }

    /// The state between checks.
    private struct Progress {
        var survey: Survey?
        /// The check that found that the extension cannot be loaded, and the error.
        var unloadable: (check: ValidationCheck, error: ExtensionError)?
        /// The kinds of requests that failed, and the check that reports each of them.
        var failures: [String: ValidationCheck] = [:]
        /// The checks that were skipped because of an earlier check's result.
        var consequences: Set<ValidationCheck> = []

        /// Returns the result for a check that is skipped because of an earlier check's result.
        mutating func skip(_ check: ValidationCheck, _ reason: String) -> CheckResult {
            consequences.insert(check)
            return .skipped(reason: reason)
        }

        /// Returns the result for an error that ended a check.
        mutating func result(_ error: ExtensionError, _ check: ValidationCheck, _ bundle: ExtensionBundle)
            -> CheckResult
        {
            if case .cannotLoad = error, unloadable == nil { unloadable = (check, error) }
            if let request = error.failedRequest {
                if let first = failures[request] {
                    return skip(check, "the request to \(request) fails (see \(first.rawValue))")
                }
                failures[request] = check
            }
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
                reason: problem.description, advice: "Fix this first: no host uses the extension until then.")
        case .bundle(let bundle):
            if check == .manifest { return ManifestReview(bundle).result }
            if settings.isInProcess && check.needsProcess {
                return .skipped(reason: "it needs a separate process; leave --in-process out")
            }
            var context = CheckContext(
                check: check, bundle: bundle, configuration: configuration, settings: settings,
                survey: progress.survey ?? Survey(), whole: whole, failures: progress.failures)
            // Sandbox denials may be the cause, so they are always shown.
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
                    // If the acknowledgement check is not selected, this check reports the error.
                    guard checks.contains(.acknowledgement) else { return progress.result(problem, check, bundle) }
                    return progress.skip(
                        check, "its items are unknown, because a reindex failed (see acknowledgement)")
                }
            }
            do throws(ExtensionError) { return try await check.run(context) } catch {
                return progress.result(error, check, bundle)
            }
        }
    }
}

extension ExtensionError {
    /// The kind of request that failed, without items; `nil` for an error of another cause.
    fileprivate var failedRequest: String? {
        guard !isConsequence else { return nil }
        switch self {
        case .crashed(_, let during, _, _), .timedOut(_, let during, _), .failed(_, let during, _, _),
            .malformedAnswer(_, let during, _), .memoryExceeded(_, let during, _, _):
            return during.replacing(/^reindex \d+ items$/, with: "reindex some items")
        default: return nil
        }
    }
}

extension CheckResult {
    /// Creates the result for an error that ended a check.
    init(_ error: ExtensionError, _ check: ValidationCheck, _ bundle: ExtensionBundle) {
        switch error {
        case .crashed:
            self = .crashed(
                reason: error.description,
                advice: """
                    Run it in a debugger: gdb --args searchlight extensions validate \
                    \(bundle.path.shellWord) --in-process --only \(check.rawValue)
                    """)
        case .timedOut:
            self = .failed(
                reason: error.description,
                advice: """
                    Answer each request exactly once, even after an error, and do not wait without a time limit. During a long \
                    reindex, donate, log or report progress regularly.
                    """)
        case .cannotLoad:
            self = .failed(
                reason: error.description, advice: "See “When it does not work” in docs/EXTENSIONS.md.")
        case .failed(_, _, let status, _):
            self = .failed(
                reason: error.description,
                advice: status == .tooLarge
                    ? "Stay below the limit that the message names."
                    : "Fix the failure. If something is missing, name it and the remedy in the message.")
        case .malformedAnswer:
            self = .failed(reason: error.description, advice: "Send the kind of answer that the request needs.")
        default: self = .failed(reason: error.description, advice: "Fix this first, and validate again.")
        }
    }
}
