// SPDX-License-Identifier: Apache-2.0
import ExtensionHost

extension RemoteEngine {
    /// See ``StoreService/extensionListing()``.
    public func extensionListing() async throws(EngineError) -> ExtensionListing {
        try await connection.perform(ExtensionListingCall()).answer
    }

    /// See ``StoreService/extensionDetails(of:)``.
    public func extensionDetails(of identifier: String) async throws(EngineError) -> ExtensionDetails {
        try await connection.perform(ExtensionDetailsCall(bundle: identifier)).answer
    }

    /// See ``StoreService/extensionPlaces()``.
    public func extensionPlaces() async throws(EngineError) -> [ExtensionPlace] {
        try await connection.perform(ExtensionPlacesCall()).answer
    }

    /// See ``StoreService/setEnabled(_:_:)``.
    public func setEnabled(_ isEnabled: Bool, _ identifier: String) async throws(EngineError) {
        _ = try await connection.perform(SetEnabledCall(bundle: identifier, isEnabled: isEnabled))
    }

    /// See ``StoreService/releaseExtension(_:)``.
    public func releaseExtension(_ identifier: String) async throws(EngineError) -> ExtensionHealthReport {
        try await connection.perform(ReleaseCall(bundle: identifier)).answer
    }

    /// See ``StoreService/forgetBundle(_:)``.
    public func forgetBundle(_ bundle: String) async throws(EngineError) -> Int {
        try await connection.perform(ForgetCall(bundle: bundle)).answer
    }

    /// See ``StoreService/reindexItems(_:of:onEvent:)``.
    public func reindexItems(
        _ items: Set<String>, of identifier: String, onEvent: @escaping @Sendable (ExtensionEvent) -> Void
    ) async throws(EngineError) -> Int {
        try await connection.perform(ReindexItemsCall(bundle: identifier, items: items.sorted()), onEvent: onEvent)
            .answer
    }
}
