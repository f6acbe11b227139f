// SPDX-License-Identifier: Apache-2.0
import ExtensionHost
import Glibc
import Promises
import SearchIndex
import ServiceProtocol
import Synchronization
import UniformTypeIdentifiers

extension SearchlightEngine {
    /// What would be chosen if an item were dropped on a receiver.
    public func resolve(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver
    ) -> PromiseResolution {
        PromiseResolution(item.record, accepted: accepted, preferring: preference)
    }

    /// Drops an item on a receiver: has its app, if that is registered as a delegate, or its extension produce the representation that serves best, and delivers it.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - accepted: The uniform type identifiers the receiver accepts, best first.
    ///   - preference: Whose order leads.
    ///   - destination: Where the representation goes.
    /// - Returns: What was delivered and how many bytes.
    /// - Throws: ``EngineError``; then no file has appeared.
    public func drag(
        _ item: StoredItem, accepted: [String], preferring preference: UTTypeResolver.Preference = .receiver,
        to destination: Destination
    ) async throws(EngineError) -> (representation: Representation, bytes: UInt64) {
        let resolution = resolve(item, accepted: accepted, preferring: preference)
        guard let choice = resolution.choice else {
            throw .promise(.unsupportedType(offered: resolution.offered.map(\.type), accepted: accepted))
        }
        let bundle = item.scope.bundle
        let identifier = item.record.uniqueIdentifier
        switch choice.form {
        case .data: return (choice, try await deliver(identifier, as: choice.type, of: bundle, to: destination))
        case .file, .inPlaceFile:
            let file = try await file(
                of: identifier, as: choice.type, inPlace: choice.form == .inPlaceFile, bundle: bundle)
            let token = UInt64.random(in: .min ... .max)
            let bytes = try await onDelivery { () throws(PromiseError) in
                try Delivery.deliver(file, to: destination, token: token)
            }
            return (choice, bytes)
        }
    }

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

    /// Delivers an item as bytes. An app that ends while its bytes are on their way breaks them off; if they were for a
    /// file, which appears only as a whole, the next responder is asked.
    private func deliver(
        _ identifier: String, as type: String, of bundle: String, to destination: Destination
    ) async throws(EngineError) -> UInt64 {
        var broken: Set<DelegateToken> = []
        var problem: EngineError?
        while true {
            let asked = Mutex<Donor?>(nil)
            let payload: Payload
            do throws(ExtensionError) {
                payload = try await host.data(item: identifier, type: type, bundle, passingOver: broken) { donor in
                    asked.withLock { $0 = donor }
                }
            } catch {
                throw problem ?? .extension(error)
            }
            let token = UInt64.random(in: .min ... .max)
            do throws(EngineError) {
                return try await onDelivery { () throws(PromiseError) in
                    try Delivery.deliver(payload, to: destination, token: token)
                }
            } catch {
                guard case .promise(.wrongLength(let expected, let received)) = error, received < expected,
                    case .delegate(let delegate)? = asked.withLock({ $0 }), destination.isReplacedAsAWhole
                else { throw error }
                broken.insert(delegate)
                problem = error
            }
        }
    }
}

extension Destination {
    /// Whether nothing is there of a delivery that failed.
    fileprivate var isReplacedAsAWhole: Bool {
        guard case .file(let path) = self else { return false }
        var status = stat()
        return stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG
    }
}
