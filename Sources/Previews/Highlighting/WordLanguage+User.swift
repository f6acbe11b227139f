// SPDX-License-Identifier: Apache-2.0
import Foundation
import UserSearch

extension WordLanguage {
    /// The language of the user's messages; `nil` if it has no stemmer.
    package static let ofUser = WordLanguage(messagesIn: ProcessInfo.processInfo.environment)

    /// Creates the language for messages in an environment: the first non-empty variable of
    /// `LC_ALL`, `LC_MESSAGES` and `LANG`.
    package init?(messagesIn environment: [String: String]) {
        let name = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        self.init(tag: name ?? "")
    }
}
