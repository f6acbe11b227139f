// SPDX-License-Identifier: Apache-2.0
import SearchIndex

/// Reports the embedding model and its progress. The answer is `nil` if there is no model.
package struct SemanticStatusCall: EngineCall {
    package var need: EngineNeed { .reading }
    package var purpose: String { "show the state of the search by meaning" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> SemanticStatus? { try await engine.semanticStatus() }
}

/// Notifies the engine that a model was installed or removed. The answer is the new status.
package struct SemanticModelChangedCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "use another embedding model" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> SemanticStatus? { try await engine.semanticModelChanged() }
}

/// Embeds items for about a second. The answer is the new status; the client repeats the call while
/// items are pending.
package struct EmbedCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "embed items" }

    private static let time = Duration.seconds(1)

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> SemanticStatus? {
        let end = ContinuousClock.now + Self.time
        while try await engine.embedStep(isInBackground: false), ContinuousClock.now < end, !Task.isCancelled {}
        return try await engine.semanticStatus()
    }
}
