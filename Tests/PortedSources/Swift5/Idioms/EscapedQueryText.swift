// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func contains(_ text: String) -> String {
    let escaped = text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    let attributes = ["title", "textContent", "contentDescription", "keywords", "authorNames"]
    return attributes.map { "\($0) == \"*\(escaped)*\"cd" }.joined(separator: " || ")
}
