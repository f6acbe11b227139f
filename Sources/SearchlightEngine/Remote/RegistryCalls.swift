// SPDX-License-Identifier: Apache-2.0

/// Lists the extensions that are found, those refused, and where they were looked for.
public struct ExtensionsCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "list the extensions" }

    /// Creates the call.
    public init() {}

    /// Performs the call.
    public func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> InstalledExtensions {
        try await engine.extensions()
    }
}

/// Lists the extensions with their states, those that are not used, and those that are gone.
public struct ExtensionListingCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "list the extensions with their states" }

    /// Creates the call.
    public init() {}

    /// Performs the call.
    public func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionListing {
        try await engine.extensionListing()
    }
}

/// Says everything that is known of one extension; ``ExtensionError/notFound(identifier:searchPath:known:)`` if nothing is.
public struct ExtensionDetailsCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "say what is known of \(bundle)" }
    var bundle: String

    /// Creates the call.
    public init(bundle: String) { self.bundle = bundle }

    /// Performs the call.
    public func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionDetails {
        try await engine.extensionDetails(of: bundle)
    }
}

/// Says where extensions are looked for.
public struct ExtensionPlacesCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "say where extensions are looked for" }

    /// Creates the call.
    public init() {}

    /// Performs the call.
    public func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> [ExtensionPlace] {
        try await engine.extensionPlaces()
    }
}

/// Has an extension used, or not any more. Its items stay.
public struct SetEnabledCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "\(isEnabled ? "enable" : "disable") \(bundle)" }
    var bundle: String
    var isEnabled: Bool

    /// Creates the call.
    public init(bundle: String, isEnabled: Bool) {
        self.bundle = bundle
        self.isEnabled = isEnabled
    }

    /// Performs the call.
    public func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Done {
        try await engine.setEnabled(isEnabled, bundle)
        return Done()
    }
}

/// Forgets what is held against an extension, so that it is asked again; answers what was held against it.
public struct ReleaseCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "release \(bundle)" }
    var bundle: String

    /// Creates the call.
    public init(bundle: String) { self.bundle = bundle }

    /// Performs the call.
    public func perform(
        on engine: SearchlightEngine, _ context: CallContext
    ) async throws(EngineError) -> ExtensionHealthReport {
        try await engine.releaseExtension(bundle)
    }
}

/// Removes everything there is of a bundle: its items, its client states and its pending work; answers how many items there
/// were.
public struct ForgetCall: EngineCall {
    /// What the call is for.
    public var purpose: String { "forget \(bundle)" }
    var bundle: String

    /// Creates the call.
    public init(bundle: String) { self.bundle = bundle }

    /// Performs the call.
    public func perform(on engine: SearchlightEngine, _ context: CallContext) async throws(EngineError) -> Int {
        try await engine.forgetBundle(bundle)
    }
}
