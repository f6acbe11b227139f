// SPDX-License-Identifier: Apache-2.0

struct ExtensionListingCall: EngineCall {
    static let name = "extensions.list"
    var purpose: String { "list the extensions with their states" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> ExtensionListing {
        try await desk.store().extensionListing()
    }
}

struct ExtensionDetailsCall: EngineCall {
    static let name = "extensions.info"
    var purpose: String { "say what is known of \(bundle)" }
    var bundle: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> ExtensionDetails {
        try await desk.store().extensionDetails(of: bundle)
    }
}

struct ExtensionPlacesCall: EngineCall {
    static let name = "extensions.places"
    var purpose: String { "say where extensions are looked for" }

    func perform(_ desk: CallDesk) async throws(EngineError) -> [ExtensionPlace] {
        try await desk.store().extensionPlaces()
    }
}

struct SetEnabledCall: EngineCall {
    static let name = "extensions.enable"
    var purpose: String { "\(isEnabled ? "enable" : "disable") \(bundle)" }
    var bundle: String
    var isEnabled: Bool

    func perform(_ desk: CallDesk) async throws(EngineError) -> Done {
        try await desk.store().setEnabled(isEnabled, bundle)
        return Done()
    }
}

struct ReleaseCall: EngineCall {
    static let name = "extensions.release"
    var purpose: String { "release \(bundle)" }
    var bundle: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> ExtensionHealthReport {
        try await desk.store().releaseExtension(bundle)
    }
}

struct ForgetCall: EngineCall {
    static let name = "forget"
    var purpose: String { "forget \(bundle)" }
    var bundle: String

    func perform(_ desk: CallDesk) async throws(EngineError) -> Int { try await desk.store().forgetBundle(bundle) }
}

struct ReindexItemsCall: EngineCall {
    static let name = "reindexItems"
    var purpose: String { "reindex items of \(bundle)" }
    var bundle: String
    var items: [String]

    func perform(_ desk: CallDesk) async throws(EngineError) -> Int {
        try await desk.store().reindexItems(Set(items), of: bundle, onEvent: desk.onEvent)
    }
}
