// SPDX-License-Identifier: Apache-2.0
import BusTransport

/// The error statuses of extensions: the statuses defined in `searchlight_extension.h`, with their
/// D-Bus error names.
public enum ExtensionStatus: Int32, Sendable, CaseIterable, Codable {
    /// Another error; the message describes it.
    case failed = 1
    /// The extension does not support this type or request.
    case unsupported = 2
    /// The item does not exist.
    case notFound = 3
    /// The request was cancelled.
    case cancelled = 4
    /// A text is malformed or an argument is missing.
    case invalidArgument = 5
    /// The host or the index is unavailable.
    case unavailable = 6
    /// A limit is exceeded; the message names it.
    case tooLarge = 7
    /// The request is valid but not allowed.
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

    /// Creates the status for a D-Bus error name; ``failed`` for unknown names.
    public init(errorName: String) {
        switch errorName {
        case ServiceErrorName.invalidItem, ServiceErrorName.invalidClientState, ServiceErrorName.invalidQuery:
            self = .invalidArgument
        case ServiceErrorName.mismatchedClientState, ServiceErrorName.accessDenied: self = .refused
        case ServiceErrorName.storeNotWritable, ServiceErrorName.protected: self = .unavailable
        default: self = Self.allCases.first { $0.errorName == errorName } ?? .failed
        }
    }
}

extension BusError {
    /// Returns the error for a call that is rejected with a status.
    public static func refused(_ status: ExtensionStatus, _ message: String) -> BusError {
        .remote(name: status.errorName, message: message)
    }

    /// The status for the error.
    public var status: ExtensionStatus {
        switch self {
        case .remote(let name, _): ExtensionStatus(errorName: name)
        case .disconnected, .system: .unavailable
        case .cancelled: .cancelled
        case .malformed: .invalidArgument
        }
    }
}

/// The reasons why a worker cannot load an extension, with their D-Bus error names.
public enum LoadFailure: String, Sendable, CaseIterable, Codable {
    /// The dynamic linker cannot load the library.
    case cannotOpen = "com.searchlight.Error.CannotOpen"
    /// The library exports no entry point, and the manifest names no principal class.
    case missingEntryPoint = "com.searchlight.Error.MissingEntryPoint"
    /// The library was built for another major version of the header.
    case incompatibleABI = "com.searchlight.Error.IncompatibleABI"
    /// The library reports an identifier different from the one in its manifest.
    case identifierMismatch = "com.searchlight.Error.IdentifierMismatch"
    /// The extension object cannot be created, or the principal class does not exist.
    case cannotCreate = "com.searchlight.Error.CannotCreate"
    /// The extension supports none of the host's interfaces.
    case noInterfaces = "com.searchlight.Error.NoInterfaces"
    /// A symbol binding is malformed.
    case invalidBinding = "com.searchlight.Error.InvalidBinding"
    /// A library lacks a function that a symbol binding calls.
    case missingSymbol = "com.searchlight.Error.MissingSymbol"
}
