// SPDX-License-Identifier: Apache-2.0

import Foundation

/// An index error.
///
/// The `localizedDescription` states the attempted operation, the failure and the remedy.
public struct CSIndexError: CustomNSError, CustomStringConvertible, Hashable, Sendable {
    /// The kinds of error.
    public enum Code: Int, Hashable, Sendable {
        /// Any other error; the description contains the details.
        case unknownError = -1
        /// The index cannot be reached at the moment. Try again later.
        case indexUnavailableError = -1000
        /// An item cannot be indexed in its current form.
        case invalidItemError = -1001
        /// A client state is too long or damaged.
        case invalidClientStateError = -1002
        /// The connection to the index was lost.
        case remoteConnectionError = -1003
        /// The app exceeds one of the index's quotas.
        case quotaExceeded = -1004
        /// The index does not support the operation.
        case indexingUnsupported = -1005
        /// The stored client state differs from the expected one.
        case mismatchedClientState = -1006

        /// Matches a code in `catch CSIndexError.quotaExceeded`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? CSIndexError)?.code == code }
    }

    /// The error code.
    public let code: Code
    private let details: NSError

    /// Creates an error with a code and a user info dictionary, as in `NSError`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        details = NSError(domain: CSIndexErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    init(_ code: Code, _ description: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: description])
    }

    /// The error domain, `CSIndexErrorDomain`.
    public static var errorDomain: String { CSIndexErrorDomain }

    /// The raw value of the code.
    public var errorCode: Int { code.rawValue }

    /// The user info dictionary, as in `NSError`.
    public var errorUserInfo: [String: Any] { details.userInfo }

    /// The user info dictionary, as in `NSError`.
    public var userInfo: [String: Any] { details.userInfo }

    /// The description of the error.
    public var localizedDescription: String { details.localizedDescription }

    /// The error's text in a log: its ``localizedDescription``.
    public var description: String { details.localizedDescription }

    /// ``Code/unknownError``
    public static var unknownError: Code { .unknownError }
    /// ``Code/indexUnavailableError``
    public static var indexUnavailableError: Code { .indexUnavailableError }
    /// ``Code/invalidItemError``
    public static var invalidItemError: Code { .invalidItemError }
    /// ``Code/invalidClientStateError``
    public static var invalidClientStateError: Code { .invalidClientStateError }
    /// ``Code/remoteConnectionError``
    public static var remoteConnectionError: Code { .remoteConnectionError }
    /// ``Code/quotaExceeded``
    public static var quotaExceeded: Code { .quotaExceeded }
    /// ``Code/indexingUnsupported``
    public static var indexingUnsupported: Code { .indexingUnsupported }
    /// ``Code/mismatchedClientState``
    public static var mismatchedClientState: Code { .mismatchedClientState }
}
