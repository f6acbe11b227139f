// SPDX-License-Identifier: Apache-2.0
import BusTransport
import UserSearch

/// The results and actions for KRunner.
package enum RunnerMatch {
    /// The signature of a match: identifier, title, icon, kind, relevance and properties.
    private static let signature = "sssida{sv}"
    /// The signature of an action: identifier, label and icon.
    private static let actionSignature = "sss"
    /// The relevance difference between two successive matches.
    private static let step = 1.0 / 1024

    /// Returns the matches for results, which are in search order. KRunner sorts the matches of all
    /// its plugins by kind and then by relevance. Neither increases from one match to the next, so
    /// the search order is preserved.
    package static func matches(_ results: [DesktopResult]) -> BusValue {
        var (kind, relevance) = (Int32.max, 1.0)
        return .structures(
            fields: signature,
            results.map { result in
                kind = min(kind, Self.kind(of: result.fit))
                relevance = max(0, min(relevance - step, Self.relevance(of: result.fit)))
                return [
                    .string(result.identifier.text), .string(text: result.title), .string(result.icon.generic),
                    .signed32(kind), .double(relevance), .dictionary(properties(of: result)),
                ]
            })
    }

    /// All actions except opening. A match lists the actions that it supports.
    package static let actions = BusValue.structures(
        fields: actionSignature,
        ResultAction.allCases.map { [.string($0.rawValue), .string($0.label), .string($0.icon)] })

    private static func properties(of result: DesktopResult) -> [String: BusValue] {
        var properties: [String: BusValue] = [
            "subtext": .string(text: result.detail),
            // A match without this property would get all actions.
            "actions": .strings(result.actions.map(\.rawValue)),
        ]
        // KRunner groups matches by category.
        if !result.app.isEmpty { properties["category"] = .string(text: result.app) }
        return properties
    }

    /// Returns the kind of a match: KRunner's `ExactMatch`, `PossibleMatch` or `CompletionMatch`.
    private static func kind(of fit: Fit) -> Int32 {
        switch fit {
        case .wholeTitle, .wholeName: 100
        case .titleStart, .title, .text: 30
        case .someWords, .insideWords, .meaning: 10
        }
    }

    private static func relevance(of fit: Fit) -> Double {
        switch fit {
        case .wholeTitle: 0.95
        case .wholeName: 0.9
        case .titleStart: 0.85
        case .title: 0.8
        case .text: 0.7
        case .someWords: 0.5
        case .insideWords, .meaning: 0.4
        }
    }
}
