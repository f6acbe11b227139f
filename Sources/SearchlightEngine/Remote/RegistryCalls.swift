// SPDX-License-Identifier: Apache-2.0

/// Lists the extensions, the rejected bundles and the search path.
package struct ExtensionsCall: EngineCall {
    package var purpose: String { "list the extensions" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> InstalledExtensions {
        try await engine.extensions()
    }
}

/// Lists the installed extensions with their states, the rejected bundles and the removed
/// extensions.
package struct ExtensionListingCall: EngineCall {
    package var purpose: String { "list the extensions with their states" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionListing {
        try await engine.extensionListing()
    }
}

/// Reports on one extension; throws ``ExtensionError/notFound(identifier:searchPath:known:)`` for
/// an unknown identifier.
package struct ExtensionDetailsCall: EngineCall {
    package var purpose: String { "show the extension \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionDetails {
        try await engine.extensionDetails(of: bundle)
    }
}

/// Lists the directories that are searched for extensions.
package struct ExtensionPlacesCall: EngineCall {
    package var purpose: String { "list the folders of extensions" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> [ExtensionPlace] {
        try await engine.extensionPlaces()
    }
}

/// Enables or disables an extension. Its items are kept.
package struct SetEnabledCall: EngineCall {
    package var purpose: String { "\(isEnabled ? "enable" : "disable") \(bundle)" }
    var bundle: String
    var isEnabled: Bool

    package init(bundle: String, isEnabled: Bool) {
        self.bundle = bundle
        self.isEnabled = isEnabled
    }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Done {
        try await engine.setEnabled(isEnabled, bundle)
        return Done()
    }
}

/// Clears an extension's failures, so that it receives requests again. The answer contains the
/// cleared failures.
package struct ReleaseCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "release \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionHealthReport {
        try await engine.releaseExtension(bundle)
    }
}

/// Removes all of a bundle's data, for commands of earlier versions, which expect the number of
/// removed items as the answer.
package struct ForgetCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "forget \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.forget(bundle)
    }
}

/// Removes all of a bundle's data: its items, client states and pending work. The answer has a
/// receipt.
package struct RemoveCall: EngineCall {
    package var need: EngineNeed { .changing }
    package var purpose: String { "forget \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ForgetReport { try await engine.remove(bundle) }
}

/// Compares the receipt of a removal with the store.
package struct VerifyReceiptCall: EngineCall {
    package var purpose: String { "check a receipt" }
    var receipt: ForgetReceipt

    package init(receipt: ForgetReceipt) { self.receipt = receipt }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ReceiptCheck { try await engine.check(receipt) }
}

/// Lists the bundles of which something can be removed that no other list mentions.
package struct UnfinishedRemovalsCall: EngineCall {
    package var purpose: String { "list interrupted removals" }

    package init() {}

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> [String] {
        try await engine.unlistedRemovals()
    }
}
