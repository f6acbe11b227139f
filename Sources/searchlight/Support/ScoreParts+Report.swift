// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserSearch

extension ScoreParts {
    /// The score as a sum, for display.
    var sum: String {
        func shown(_ value: Double) -> String { String(format: "%.3f", value) }
        return """
            score \(shown(score)) = (\(fit) \(shown(evidence)) + words \(shown(words)) + nearness \(shown(nearness)) + engagement \
            \(shown(engagement)) + meaning \(shown(meaning))) × freshness \(shown(freshness))
            """
    }
}

extension JSONObject {
    init(_ parts: ScoreParts) {
        self = [
            "evidence": parts.evidence.shortened, "words": parts.words.shortened,
            "nearness": parts.nearness.shortened, "freshness": parts.freshness.shortened,
            "engagement": parts.engagement.shortened, "meaning": parts.meaning.shortened,
        ]
    }
}

extension Double {
    /// The number, rounded to three decimal places.
    var shortened: Double { (self * 1000).rounded() / 1000 }
}
