// SPDX-License-Identifier: Apache-2.0

/// The result of one check of an extension.
public enum CheckResult: Sendable, Hashable {
    /// The extension passed.
    case passed
    /// There is a problem, but no rule is broken.
    case warning(reason: String, advice: String)
    /// A rule is broken.
    case failed(reason: String, advice: String)
    /// The extension's process exited during the check.
    case crashed(reason: String, advice: String)
    /// The check does not apply to this extension.
    case skipped(reason: String)

    /// The kinds of results, as text: `passed`, `warning`, `failed`, `crashed` and `skipped`.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// See ``CheckResult``.
        case passed, warning, failed, crashed, skipped
    }

    /// The kind of the result.
    public var kind: Kind {
        switch self {
        case .passed: .passed
        case .warning: .warning
        case .failed: .failed
        case .crashed: .crashed
        case .skipped: .skipped
        }
    }

    /// The reason for any result except `passed`.
    public var reason: String? {
        switch self {
        case .passed: nil
        case .warning(let reason, _), .failed(let reason, _), .crashed(let reason, _), .skipped(let reason): reason
        }
    }

    /// The remedy for the extension's author.
    public var advice: String? {
        switch self {
        case .passed, .skipped: nil
        case .warning(_, let advice), .failed(_, let advice), .crashed(_, let advice): advice
        }
    }

    /// `true` if the extension must be fixed.
    public var isFailure: Bool { kind == .failed || kind == .crashed }
}

/// The report of one check.
public struct CheckReport: Sendable, Hashable {
    /// The check.
    public var check: ValidationCheck
    /// The result of the check.
    public var result: CheckResult
    /// The duration of the check.
    public var duration: Duration
    /// `true` if the check was skipped only because of an earlier check's result.
    public var isConsequence: Bool

    /// Creates a report.
    public init(check: ValidationCheck, result: CheckResult, duration: Duration, isConsequence: Bool = false) {
        self.check = check
        self.result = result
        self.duration = duration
        self.isConsequence = isConsequence
    }
}

/// The findings of one check. The most severe finding determines the result. Only the first few
/// findings are shown.
struct Findings {
    private var failures: [(reason: String, advice: String)] = []
    private var warnings: [(reason: String, advice: String)] = []
    /// The maximum number of findings that are shown. Further findings are only counted.
    private static let shown = 5

    /// Adds a broken rule.
    mutating func fail(_ reason: String, _ advice: String) { failures.append((reason, advice)) }

    /// Adds a problem that breaks no rule.
    mutating func warn(_ reason: String, _ advice: String) { warnings.append((reason, advice)) }

    /// All reasons, broken rules first.
    var reasons: [String] { (failures + warnings).map(\.reason) }

    /// `true` if no rule is broken.
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

    /// The maximum length of a reason or remedy, in characters. Extensions determine parts of these
    /// texts.
    private static let maximumCharacters = 1000
}
