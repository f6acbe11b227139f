// SPDX-License-Identifier: Apache-2.0

/// Lists the extensions that are found, those refused, and where they were looked for.
package struct ExtensionsCall: EngineCall {
    package var purpose: String { "list the extensions" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> InstalledExtensions {
        try await engine.extensions()
    }
}

/// Lists the extensions with their states, those that are not used, and those that are gone.
package struct ExtensionListingCall: EngineCall {
    package var purpose: String { "list the extensions with their states" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionListing {
        try await engine.extensionListing()
    }
}

/// Says everything that is known of one extension; ``ExtensionError/notFound(identifier:searchPath:known:)`` if nothing is.
package struct ExtensionDetailsCall: EngineCall {
    package var purpose: String { "say what is known of \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionDetails {
        try await engine.extensionDetails(of: bundle)
    }
}

/// Says where extensions are looked for.
package struct ExtensionPlacesCall: EngineCall {
    package var purpose: String { "say where extensions are looked for" }

    package init() {}

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> [ExtensionPlace] {
        try await engine.extensionPlaces()
    }
}

/// Has an extension used, or not any more. Its items stay.
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

/// Forgets what is held against an extension, so that it is asked again; answers what was held against it.
package struct ReleaseCall: EngineCall {
    package var purpose: String { "release \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionHealthReport {
        try await engine.releaseExtension(bundle)
    }
}

/// Removes everything there is of a bundle: its items, its client states and its pending work; answers how many items there
/// were.
package struct ForgetCall: EngineCall {
    package var purpose: String { "forget \(bundle)" }
    var bundle: String

    package init(bundle: String) { self.bundle = bundle }

    package func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.forgetBundle(bundle)
    }
}
