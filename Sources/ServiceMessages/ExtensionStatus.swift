// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// How an extension says that a request went wrong: the statuses of `searchlight_extension.h` and their names on the
/// connection.
public enum ExtensionStatus: Int32, Sendable, CaseIterable, Codable {
    /// None of the others; the message says what.
    case failed = 1
    /// The extension does not serve this type or request.
    case unsupported = 2
    /// There is no such item.
    case notFound = 3
    /// The request was cancelled.
    case cancelled = 4
    /// Malformed text or a missing argument.
    case invalidArgument = 5
    /// The host or the index cannot be reached now.
    case unavailable = 6
    /// Over a limit that the message names.
    case tooLarge = 7
    /// Understood, and not allowed.
    case refused = 8

    /// The D-Bus name of the error.
    public var errorName: String {
        switch self {
        case .failed: BusErrorName.failed
        case .unsupported: "com.searchlight.Error.Unsupported"
        case .notFound: "com.searchlight.Error.NotFound"
        case .cancelled: "com.searchlight.Error.Cancelled"
        case .invalidArgument: BusErrorName.invalidArguments
        case .unavailable: "com.searchlight.Error.Unavailable"
        case .tooLarge: BusErrorName.limitsExceeded
        case .refused: "com.searchlight.Error.Refused"
        }
    }

    /// The status behind a D-Bus error name; unknown names are ``failed``.
    public init(errorName: String) {
        switch errorName {
        case ServiceErrorName.invalidItem, ServiceErrorName.invalidClientState, ServiceErrorName.invalidQuery:
            self = .invalidArgument
        case ServiceErrorName.mismatchedClientState, ServiceErrorName.accessDenied: self = .refused
        case ServiceErrorName.storeNotWritable: self = .unavailable
        default: self = Self.allCases.first { $0.errorName == errorName } ?? .failed
        }
    }
}

extension BusError {
    /// The error with which a call is refused for a status.
    public static func refused(_ status: ExtensionStatus, _ message: String) -> BusError {
        .remote(name: status.errorName, message: message)
    }

    /// The status that says the same.
    public var status: ExtensionStatus {
        switch self {
        case .remote(let name, _): ExtensionStatus(errorName: name)
        case .disconnected, .system: .unavailable
        case .cancelled: .cancelled
        case .malformed: .invalidArgument
        }
    }
}

/// Why a worker could not load an extension, and the names of these reasons on the connection.
public enum LoadFailure: String, Sendable, CaseIterable, Codable {
    /// The dynamic linker refused the library.
    case cannotOpen = "com.searchlight.Error.CannotOpen"
    /// The library exports no entry point and the manifest names no principal class.
    case missingEntryPoint = "com.searchlight.Error.MissingEntryPoint"
    /// The library was built for another major version of the header.
    case incompatibleABI = "com.searchlight.Error.IncompatibleABI"
    /// The library says it is another extension than its manifest.
    case identifierMismatch = "com.searchlight.Error.IdentifierMismatch"
    /// The extension could not be created; for a principal class also: no such class.
    case cannotCreate = "com.searchlight.Error.CannotCreate"
    /// The extension serves no interface the host knows.
    case noInterfaces = "com.searchlight.Error.NoInterfaces"
    /// A symbol binding cannot be read.
    case invalidBinding = "com.searchlight.Error.InvalidBinding"
    /// A library lacks a function that a symbol binding calls.
    case missingSymbol = "com.searchlight.Error.MissingSymbol"
}
