// SPDX-License-Identifier: Apache-2.0

internal import BusTransport
internal import ServiceMessages

extension BusError {
    /// Creates an error for an unreachable service. The message contains the attempted operation
    /// and the remedy.
    static func unreachable(_ message: String) -> BusError {
        .remote(name: ServiceErrorName.unreachable, message: message)
    }

    /// `true` if no service runs and none can be started.
    var isAbsence: Bool {
        if case .remote(name: ServiceErrorName.absent, _) = self { true } else { false }
    }

    /// A message for the app: the attempt, the failure and the remedy.
    var advice: String {
        switch self {
        case .remote(let name, let message): message.isEmpty ? "The service answered with the error \(name)." : message
        case .disconnected, .cancelled:
            "The connection to the service was lost before it answered. Make the request again."
        case .malformed, .system: description
        }
    }

    /// The error codes for index calls and for queries. Names that are not in the table are unknown
    /// errors for both.
    fileprivate var codes: (index: CSIndexError.Code, query: CSSearchQueryError.Code) {
        switch self {
        case .remote(let name, _): Self.codes[name] ?? (.unknownError, .unknown)
        case .disconnected, .cancelled: (.remoteConnectionError, .indexUnreachable)
        case .malformed, .system: (.unknownError, .unknown)
        }
    }

    private static let codes: [String: (index: CSIndexError.Code, query: CSSearchQueryError.Code)] = [
        ServiceErrorName.absent: (.remoteConnectionError, .indexUnreachable),
        ServiceErrorName.unreachable: (.remoteConnectionError, .indexUnreachable),
        ServiceErrorName.accessDenied: (.indexUnavailableError, .indexUnreachable),
        ServiceErrorName.unsupportedVersion: (.indexUnavailableError, .indexUnreachable),
        ServiceErrorName.storeNotWritable: (.indexUnavailableError, .indexUnreachable),
        ServiceErrorName.protected: (.indexUnavailableError, .indexUnreachable),
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
    init(_ error: BusError) { self.init(error.codes.index, error.advice) }

    /// Creates the error for a promise. An error from the app that made the promise becomes an item
    /// error.
    init(promise error: BusError) {
        let ofItem: Set<ExtensionStatus> = [.notFound, .unsupported, .failed, .refused]
        guard case .remote(let name, _) = error, ofItem.contains(where: { $0.errorName == name }) else {
            self.init(error)
            return
        }
        self.init(.invalidItemError, error.advice)
    }
}

extension CSSearchQueryError {
    init(_ error: BusError) { self.init(error.codes.query, error.advice) }
}
