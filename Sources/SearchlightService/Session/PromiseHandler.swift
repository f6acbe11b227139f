// SPDX-License-Identifier: Apache-2.0
import BusTransport
import ExtensionHost
import Glibc
import Promises
import SearchIndex
import SearchlightEngine
import ServiceMessages

/// Fetches the data of any bundle's items, for clients with the right to do so.
final class PromiseHandler: Sendable {
    private let requests: ClientRequests

    /// The maximum number of one client's concurrent fetches.
    private static let maximum = 16

    init(_ core: ServiceCore, _ patience: ReadPatience) {
        requests = ClientRequests(core.engine, patience, maximum: Self.maximum)
    }

    func take(_ request: PromiseRequest, _ call: IncomingCall) {
        switch request {
        case .fetchData(let bundle, let item, let type):
            requests.answer(call, isInteractive: true) { (engine) throws(QueryRefusal) in
                try await Self.payload(engine, bundle: bundle, item: item, type: type).arguments
            }
        }
    }

    func cancelAll() { requests.cancelAll() }

    private static func payload(
        _ engine: SearchlightEngine, bundle: String, item: String, type: String
    ) async throws(QueryRefusal) -> Payload {
        do throws(EngineError) {
            guard !bundle.isEmpty else { throw .itemNotFound(item) }
            let item = try await engine.item(named: item, bundle: bundle)
            // An item may be available in the type although it does not promise it, for example if
            // its app can provide it.
            let choice = engine.resolve(item, accepted: [type]).choice ?? Representation(type: type, form: .data)
            switch try await engine.fulfil(choice, of: item) {
            case .data(let payload): return payload
            case .file(let file): return try contents(of: file)
            }
        } catch {
            throw QueryRefusal(fetching: error)
        }
    }

    /// Returns the content of a file as a stream.
    private static func contents(of file: FileReply) throws(EngineError) -> Payload {
        var status = stat()
        guard fstat(file.descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .storeFile(
                path: file.name, operation: "Reading the provided file", detail: "it is not a regular file")
        }
        return .stream(file.descriptor, length: UInt64(max(0, status.st_size)))
    }
}

extension QueryRefusal {
    /// Creates the error that a client receives for a failed fetch.
    fileprivate init(fetching error: EngineError) {
        switch error {
        case .itemNotFound, .itemElsewhere, .ambiguousItem, .extension(.notFound):
            self.init(name: ExtensionStatus.notFound.errorName, message: error.description)
        case .extension(.failed(_, _, let status, _)):
            self.init(name: status.errorName, message: error.description)
        case .extension(.cancelled): self = .cancelled
        case .extension: self.init(name: ExtensionStatus.unavailable.errorName, message: error.description)
        default: self.init(error)
        }
    }
}
