// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import SearchlightEngine

/// The sandbox section of `status` and, for a single bundle, of `extensions info`.
struct SandboxSection: Encodable {
    struct Attempt: Encodable {
        var kind: String
        var detail: String
        var attempt: String
        var count: Int
        var first: String
        var last: String
        /// The change that would allow the access; `none` if no extension may be granted it.
        var remedy: String
        /// The remedy, to be appended to a sentence.
        private let advice: String

        init(_ entry: SandboxHistory.Entry) {
            kind = entry.refusal.kind.rawValue
            detail = entry.refusal.detail
            attempt = entry.refusal.description
            count = entry.refusal.count
            first = moment(entry.first)
            last = moment(entry.last)
            remedy = entry.refusal.whatToDo.rawValue
            advice = entry.refusal.advice
        }

        enum CodingKeys: String, CodingKey { case kind, detail, attempt, count, first, last, remedy }

        /// The denied access, with its count, its last time and the remedy.
        var line: String { "\(attempt)\(count == 1 ? "" : " \(count) times"), last \(last): refused\(advice)" }
    }
    struct Bundle: Encodable {
        /// The protections that the bundle's last worker lacked, because the kernel does not
        /// support them.
        var missing: [String]
        /// The idle priorities that the bundle's last background worker lacked, because the kernel
        /// does not support them.
        var backgroundMissing: [String]
        /// The declared paths to which access was not granted, with the reasons.
        var withheld: [SandboxReport.DeniedPath]
        var attempts: [Attempt]

        init(_ known: SandboxHistory.Bundle) {
            missing = known.report?.missing.names ?? []
            backgroundMissing = known.report?.backgroundMissing?.names ?? []
            withheld = known.report?.withheld ?? []
            attempts = known.refusals.map(Attempt.init)
        }
    }
    var isEnforced: Bool
    var landlockRevision: Int
    /// The protections that this kernel does not support.
    var missing: [String]
    var bundles: [String: Bundle]

    init(_ status: SandboxStatus) {
        isEnforced = status.isEnforced
        landlockRevision = status.landlockRevision
        missing = status.missing.names
        bundles = status.history.bundles.mapValues(Bundle.init)
    }

    var lines: [String] {
        var lines: [String] = []
        if !isEnforced {
            lines.append("Sandbox: OFF (SEARCHLIGHT_SANDBOX); extensions have all your rights")
        } else if missing.isEmpty {
            lines.append(
                "Sandbox: complete (Landlock \(landlockRevision), seccomp)")
        } else {
            lines.append("Sandbox: weakened, because this kernel does not")
            lines += missing.map { "  \($0)" }
        }
        for (name, bundle) in bundles.sorted(by: { $0.key < $1.key }) {
            if isEnforced, !bundle.missing.isEmpty, bundle.missing != missing {
                lines.append(
                    "  the last worker of \(name) was not confined by: \(bundle.missing.joined(separator: "; "))")
            }
            if !bundle.backgroundMissing.isEmpty {
                let missing = bundle.backgroundMissing.joined(separator: "; ")
                lines.append(
                    "  background workers of \(name) have too high a priority, because the kernel does not: \(missing)"
                )
            }
            lines += bundle.withheld.map { "  \(name) has no access to \($0.path), which it requests: \($0.reason)" }
            lines += bundle.attempts.map { "  \(name) \($0.line)" }
        }
        return lines
    }
}
