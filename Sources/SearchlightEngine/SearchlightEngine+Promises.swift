// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import ServiceProtocol

extension SearchlightEngine {
    /// The item as bytes of a type, from its app or its extension.
    ///
    /// - Parameters:
    ///   - identifier: The unique identifier of the item.
    ///   - type: A uniform type identifier that the item promises.
    ///   - bundle: Whose item it is.
    /// - Throws: ``EngineError``. A stream may end early all the same.
    public func data(
        of identifier: String, as type: String, bundle: String
    ) async throws(EngineError) -> Payload {
        try await onHost { (host) throws(ExtensionError) in
            try await host.data(item: identifier, type: type, bundle)
        }
    }

    /// The item as a file of a type, as ``data(of:as:bundle:)`` gives it as bytes; the original if `inPlace`.
    ///
    /// - Throws: ``EngineError``.
    public func file(
        of identifier: String, as type: String, inPlace: Bool, bundle: String
    ) async throws(EngineError) -> FileReply {
        try await onHost { (host) throws(ExtensionError) in
            try await host.file(item: identifier, type: type, inPlace: inPlace, bundle)
        }
    }
}
