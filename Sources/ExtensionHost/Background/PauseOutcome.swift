// SPDX-License-Identifier: Apache-2.0

/// What became of a background worker that was to be quiet.
public enum PauseOutcome: String, Hashable, Sendable, Codable, CaseIterable {
    /// It has heeded the notice: it used no processor any more before it was frozen, as it is now.
    case heeded
    /// It was frozen while it worked on.
    case frozen
    /// It held a lock that somebody may wait for and did not give it back in time, or it was still being loaded; so it was
    /// ended. Its request has failed with ``ExtensionError/cancelled`` and is held against nobody.
    case ended
    /// There was none. What is asked of the bundle in the background from now on waits all the same.
    case notRunning
    /// It was told to go on before it was frozen.
    case resumed

    /// Of several workers, the one that matters most.
    static func gravest(_ outcomes: [PauseOutcome]) -> PauseOutcome {
        [.ended, .frozen, .heeded, .resumed].first { outcomes.contains($0) } ?? .notRunning
    }
}
