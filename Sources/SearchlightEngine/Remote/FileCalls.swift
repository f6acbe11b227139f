// SPDX-License-Identifier: Apache-2.0

/// Updates the index from the files that are followed for one extension or for all. It compares the
/// files, reports the changes to the extensions, and runs their pending reindexes.
package struct UpdateCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "update the index" }
    var bundle: String?

    package init(bundle: String?) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> [FileUpdate]
    {
        try await engine.update(bundle, onEvent: context.onEvent)
    }
}
