// SPDX-License-Identifier: Apache-2.0

/// The outcome of the pause of a background worker.
public enum PauseOutcome: String, Hashable, Sendable, Codable, CaseIterable {
    /// The worker stopped by itself: it used almost no processor time before it was frozen. It is
    /// frozen now.
    case heeded
    /// The worker was still working when it was frozen.
    case frozen
    /// The worker was ended, because it held a lock past the grace or was still loading. Its
    /// request failed with ``ExtensionError/cancelled``, which does not count against the
    /// extension.
    case ended
    /// The bundle had no background worker. New background requests wait all the same.
    case notRunning
    /// The worker was resumed before it was frozen.
    case resumed

    /// Returns the most severe outcome of several workers.
    static func gravest(_ outcomes: [PauseOutcome]) -> PauseOutcome {
        [.ended, .frozen, .heeded, .resumed].first { outcomes.contains($0) } ?? .notRunning
    }
}
