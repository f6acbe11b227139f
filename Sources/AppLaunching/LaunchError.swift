// SPDX-License-Identifier: Apache-2.0

/// The reason why no app opened an item.
package struct LaunchError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The kinds of failures. Scripts rely on these names.
    package enum Kind: String, Sendable, Codable, CaseIterable {
        /// No installed app opens the item.
        case noApp
        /// The item's file does not exist.
        case missingFile
        /// The item's file may not be opened.
        case refused
        /// The app could not be started.
        case cannotStart
        /// The app was started and exited with an error.
        case crashed
        /// The app did not answer within the time limit.
        case timedOut
        /// The caller stopped waiting.
        case cancelled
    }
    /// The kind.
    package var kind: Kind
    /// A message that states the attempt, the problem and a remedy.
    package var description: String

    package init(_ kind: Kind, _ description: String) { (self.kind, self.description) = (kind, description) }
}
