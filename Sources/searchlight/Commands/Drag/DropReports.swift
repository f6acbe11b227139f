// SPDX-License-Identifier: Apache-2.0
import Foundation
import CommandSupport
import Promises
import Synchronization
import UniformTypeIdentifiers

/// Reports the outcome for each item of a drag: as lines, or as one JSON object per item.
struct DropReports: Sendable {
    let json: Bool
    /// `true` for a drag of one item, whose name is omitted.
    let isSingle: Bool
    private let reported = ReportedFailures()

    func dropped(_ name: String, _ fulfilment: Fulfilment, to target: DropDestination) throws {
        let digest = fulfilment.digest.map { $0.map { String(format: "%02x", $0) }.joined() }
        if target.isStandardOutput {
            // Standard output contains only the item's bytes.
            if let digest { Output.complain("sha256 \(digest)") }
            return
        }
        let representation = fulfilment.representation
        if json {
            return try Output.printJSON(
                [
                    "item": name, "outcome": "fulfilled", "path": fulfilment.path, "type": representation.type,
                    "form": representation.form.rawValue, "bytes": fulfilment.bytes, "sha256": digest,
                    "isWritable": fulfilment.isWritable,
                ] as JSONObject)
        }
        guard let path = fulfilment.path else { return }
        // For an original in place, prints only the path, for use in scripts.
        if fulfilment.isWritable != nil {
            try Output.line("\(path)")
        } else {
            try Output.line("\(path): \(counted(Int(clamping: fulfilment.bytes), "byte")) of \(representation.type)")
        }
        if let digest { try Output.line("  sha256 \(digest)") }
    }

    func failed(_ name: String, _ failure: DragFailure, _ status: ExitStatus, note: String?) throws {
        let message = failure.message + (note.map { " " + $0 } ?? "")
        if json {
            return try Output.printJSON(
                [
                    "item": name, "outcome": failure.kind.rawValue, "error": Output.tidied(message),
                    "status": status.rawValue,
                ] as JSONObject)
        }
        if isSingle { return Output.fail(message) }
        // If several items fail for the same reason, such as a quarantine, it is explained only
        // once.
        let first = reported.first(message, name)
        Output.fail(first.map { "\(name): The same problem as with \($0)." } ?? "\(name): \(message)")
    }

    // MARK: Dry runs

    /// Prints a table of offered and accepted types, with distances and the deciding rule.
    func explain(_ name: String, _ resolution: PromiseResolution) throws {
        let explanation = resolution.explanation
        let choice = explanation.choice
        let pairs = explanation.pairs.map { pair in
            (
                offered: explanation.offered[pair.offeredIndex],
                form: resolution.offered[pair.offeredIndex].form.rawValue,
                accepted: explanation.accepted[pair.acceptedIndex], relation: pair.relation,
                wins: pair.offeredIndex == choice?.offeredIndex && pair.acceptedIndex == choice?.acceptedIndex
            )
        }
        if json {
            return try Output.printJSON(
                [
                    "item": name, "rule": explanation.rule.rawValue, "leads": explanation.preference.rawValue,
                    "type": resolution.choice?.type, "form": resolution.choice?.form.rawValue,
                    "pairs": pairs.map { pair -> JSONObject in
                        [
                            "offered": pair.offered, "form": pair.form, "accepted": pair.accepted,
                            "serves": pair.relation.serves, "distance": pair.relation.distance,
                            "relation": "\(pair.relation)", "wins": pair.wins,
                        ]
                    },
                ] as JSONObject)
        }
        if !isSingle { try Output.line("\(name)") }
        let offered = pairs.map(\.offered.count).max() ?? 0
        let accepted = pairs.map(\.accepted.count).max() ?? 0
        for pair in pairs {
            try Output.line(
                """
                \(pair.wins ? "→" : " ") \(pair.offered.padded(to: offered))  \(pair.form.padded(to: 11))  \
                for \(pair.accepted.padded(to: accepted))  \(pair.relation)
                """)
        }
        if let choice {
            try Output.line(
                """
                \(explanation.offered[choice.offeredIndex]) serves \(explanation.accepted[choice.acceptedIndex]): \
                \(explanation.rule.description)
                """)
        } else if resolution.offered.isEmpty, let refusal = resolution.refusal {
            try Output.line("\(text: refusal.description)")
        } else {
            try Output.line("no offered type conforms to an accepted type")
        }
    }
}

/// Records the first item for each failure message.
private final class ReportedFailures: Sendable {
    /// The maximum number of recorded failures. Others are explained each time.
    private static let maximum = 64
    private let names = Mutex<[String: String]>([:])

    /// Returns the first item with this failure; `nil` if this item is the first, which is then
    /// recorded.
    func first(_ message: String, _ name: String) -> String? {
        names.withLock { names in
            if let first = names[message] { return first }
            if names.count < Self.maximum { names[message] = name }
            return nil
        }
    }
}
