// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
internal import ServiceMessages

/// Why the service did not do what it was asked, before it becomes the error of one of the interfaces.
struct ServiceFailure: Error, Hashable {
    /// What kind of failure it is.
    enum Kind: Hashable {
        /// The service answered with the error of this name.
        case answered(String)
        /// No service runs, and nothing is there that would start one.
        case absent
        /// No service could be reached, or the connection was lost for good.
        case unreachable
        /// What was sent or received cannot be made sense of.
        case malformed
    }
    let kind: Kind
    /// What was attempted, what happened and what to do.
    let message: String

    init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ error: BusError) {
        switch error {
        case .remote(let name, let message):
            self.init(.answered(name), message.isEmpty ? "The service answered \(name)." : message)
        case .disconnected, .cancelled:
            self.init(
                .unreachable, "The connection to the service was lost before it answered. Make the request again.")
        case .malformed, .system: self.init(.malformed, error.description)
        }
    }
}

extension ServiceFailure {
    /// The table of the service's errors: what each is to who indexes, and to who queries. Names that are not here are
    /// unknown errors to both.
    static let codes: [String: (index: CSIndexError.Code, query: CSSearchQueryError.Code)] = [
        ServiceErrorName.accessDenied: (.indexUnavailableError, .indexUnreachable),
        ServiceErrorName.unsupportedVersion: (.indexUnavailableError, .indexUnreachable),
        ServiceErrorName.storeNotWritable: (.indexUnavailableError, .indexUnreachable),
        ServiceErrorName.invalidItem: (.invalidItemError, .unknown),
        ServiceErrorName.invalidClientState: (.invalidClientStateError, .unknown),
        ServiceErrorName.mismatchedClientState: (.mismatchedClientState, .unknown),
        ServiceErrorName.invalidQuery: (.unknownError, .invalidQuery),
        BusErrorName.invalidArguments: (.invalidItemError, .unknown),
        BusErrorName.unknownMethod: (.indexingUnsupported, .unknown),
        BusErrorName.limitsExceeded: (.quotaExceeded, .unknown),
        ExtensionStatus.unsupported.errorName: (.indexingUnsupported, .unknown),
        ExtensionStatus.cancelled.errorName: (.remoteConnectionError, .cancelled),
        ExtensionStatus.unavailable.errorName: (.indexUnavailableError, .indexUnreachable),
        ExtensionStatus.refused.errorName: (.quotaExceeded, .unknown),
    ]
}

extension CSIndexError {
    init(_ failure: ServiceFailure) {
        let code: Code =
            switch failure.kind {
            case .answered(let name): ServiceFailure.codes[name]?.index ?? .unknownError
            case .absent, .unreachable: .remoteConnectionError
            case .malformed: .unknownError
            }
        self.init(code, failure.message)
    }
}

extension CSIndexError {
    /// The error of a promise: what the one who promised said, whatever it is, is about the item.
    init(promise failure: ServiceFailure) {
        let ofItem: Set = [
            ExtensionStatus.notFound.errorName, ExtensionStatus.unsupported.errorName, ExtensionStatus.failed.errorName,
            ExtensionStatus.refused.errorName,
        ]
        guard case .answered(let name) = failure.kind, ofItem.contains(name) else {
            self.init(failure)
            return
        }
        self.init(.invalidItemError, failure.message)
    }
}

extension CSSearchQueryError {
    init(_ failure: ServiceFailure) {
        let code: Code =
            switch failure.kind {
            case .answered(let name): ServiceFailure.codes[name]?.query ?? .unknown
            case .absent, .unreachable: .indexUnreachable
            case .malformed: .unknown
            }
        self.init(code, failure.message)
    }
}
