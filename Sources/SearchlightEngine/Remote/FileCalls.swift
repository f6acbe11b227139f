// SPDX-License-Identifier: Apache-2.0

/// Brings the index up to date with the files that are followed for one extension or for all: looks for what changed, and has the
/// extensions told. What they owe besides is asked for too.
package struct UpdateCall: EngineCall {
    package var purpose: String { "bring the index up to date" }
    var bundle: String?

    package init(bundle: String?) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> [FileUpdate]
    {
        try await engine.update(bundle, onEvent: context.onEvent)
    }
}
