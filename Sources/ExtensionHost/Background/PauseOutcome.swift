// SPDX-License-Identifier: Apache-2.0

/// The result of pausing a background worker.
public enum PauseOutcome: String, Hashable, Sendable, Codable, CaseIterable {
    /// The worker stopped by itself: it used almost no processor time before it was frozen.
    case heeded
    /// The worker was still working when it was frozen.
    case frozen
    /// The worker was terminated, because it still held a lock after the grace period or was still
    /// loading. Its request failed with ``ExtensionError/cancelled``, which does not count against
    /// the extension.
    case ended
    /// The bundle had no background worker. New background requests wait nevertheless.
    case notRunning
    /// The worker was resumed before it was frozen.
    case resumed

    /// Returns the most severe of several workers' outcomes.
    static func gravest(_ outcomes: [PauseOutcome]) -> PauseOutcome {
        [.ended, .frozen, .heeded, .resumed].first { outcomes.contains($0) } ?? .notRunning
    }
}
