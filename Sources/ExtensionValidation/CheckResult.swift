// SPDX-License-Identifier: Apache-2.0

/// How one check of an extension ended.
public enum CheckResult: Sendable, Hashable {
    /// As it should.
    case passed
    /// Not well, and nothing that a rule forbids.
    case warning(reason: String, advice: String)
    /// Against a rule.
    case failed(reason: String, advice: String)
    /// The extension's process ended during it.
    case crashed(reason: String, advice: String)
    /// It does not concern this extension.
    case skipped(reason: String)

    /// The kinds of results, as text: `passed`, `warning`, `failed`, `crashed` and `skipped`.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// See ``CheckResult``.
        case passed, warning, failed, crashed, skipped
    }

    /// Which kind it is.
    public var kind: Kind {
        switch self {
        case .passed: .passed
        case .warning: .warning
        case .failed: .failed
        case .crashed: .crashed
        case .skipped: .skipped
        }
    }

    /// Why it did not simply pass.
    public var reason: String? {
        switch self {
        case .passed: nil
        case .warning(let reason, _), .failed(let reason, _), .crashed(let reason, _), .skipped(let reason): reason
        }
    }

    /// What the author can do about it.
    public var advice: String? {
        switch self {
        case .passed, .skipped: nil
        case .warning(_, let advice), .failed(_, let advice), .crashed(_, let advice): advice
        }
    }

    /// Whether an extension with this result must be mended.
    public var isFailure: Bool { kind == .failed || kind == .crashed }
}

/// A check that was run.
public struct CheckReport: Sendable, Hashable {
    /// Which.
    public var check: ValidationCheck
    /// What came of it.
    public var result: CheckResult
    /// How long it took.
    public var duration: Duration
    /// Whether it was only skipped because of what an earlier check has told.
    public var isConsequence: Bool

    /// Creates a report.
    public init(check: ValidationCheck, result: CheckResult, duration: Duration, isConsequence: Bool = false) {
        self.check = check
        self.result = result
        self.duration = duration
        self.isConsequence = isConsequence
    }
}

/// What a check found wrong, gathered: the gravest kind decides, and the first few are told.
struct Findings {
    private var failures: [(reason: String, advice: String)] = []
    private var warnings: [(reason: String, advice: String)] = []
    /// More are only counted.
    private static let shown = 5

    /// Notes what a rule forbids.
    mutating func fail(_ reason: String, _ advice: String) { failures.append((reason, advice)) }

    /// Notes what is not well.
    mutating func warn(_ reason: String, _ advice: String) { warnings.append((reason, advice)) }

    /// All reasons, the graver ones first.
    var reasons: [String] { (failures + warnings).map(\.reason) }

    /// Whether nothing was found that a rule forbids.
    var hasNoFailure: Bool { failures.isEmpty }

    var result: CheckResult {
        guard failures.isEmpty else {
            let (reason, advice) = Self.text(failures)
            return .failed(reason: reason, advice: advice)
        }
        guard warnings.isEmpty else {
            let (reason, advice) = Self.text(warnings)
            return .warning(reason: reason, advice: advice)
        }
        return .passed
    }

    private static func text(_ findings: [(reason: String, advice: String)]) -> (String, String) {
        var (reasons, advice): ([String], [String]) = ([], [])
        for finding in findings where !reasons.contains(finding.reason) {
            reasons.append(finding.reason)
            if reasons.count <= shown, !advice.contains(finding.advice) { advice.append(finding.advice) }
        }
        let more = reasons.count > shown ? ["… and \(reasons.count - shown) more"] : []
        return (
            (reasons.prefix(shown).map(bounded) + more).joined(separator: "\n"),
            advice.map(bounded).joined(separator: "\n")
        )
    }

    private static func bounded(_ text: String) -> String {
        text.count <= maximumCharacters ? text : String(text.prefix(maximumCharacters)) + "…"
    }

    /// The longest reason or advice that is kept, in characters; extensions choose parts of them.
    private static let maximumCharacters = 1000
}
