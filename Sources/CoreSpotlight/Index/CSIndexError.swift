// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why an index did not do what it was asked.
///
/// The description, in `localizedDescription`, says what was attempted, what happened and what to do.
public struct CSIndexError: CustomNSError, Hashable, Sendable {
    /// The kinds of error.
    public enum Code: Int, Hashable, Sendable {
        /// None of the others; the description says what happened.
        case unknownError = -1
        /// The index cannot be reached now; try again later.
        case indexUnavailableError = -1000
        /// An item cannot be indexed as it is.
        case invalidItemError = -1001
        /// A client state is too long or damaged.
        case invalidClientStateError = -1002
        /// The connection to the index was lost.
        case remoteConnectionError = -1003
        /// The app has more in the index than it may.
        case quotaExceeded = -1004
        /// This index does not do that.
        case indexingUnsupported = -1005
        /// The stored client state is not the expected one.
        case mismatchedClientState = -1006

        /// Lets `catch CSIndexError.quotaExceeded` match.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? CSIndexError)?.code == code }
    }

    /// What kind of error it is.
    public let code: Code
    private let details: NSError

    /// An error of this kind, with a user info as `NSError` has.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        details = NSError(domain: CSIndexErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    init(_ code: Code, _ description: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: description])
    }

    /// `CSIndexErrorDomain`.
    public static var errorDomain: String { CSIndexErrorDomain }

    /// The raw value of the code.
    public var errorCode: Int { code.rawValue }

    /// More about the error, as `NSError` has it.
    public var errorUserInfo: [String: Any] { details.userInfo }

    /// More about the error, as `NSError` has it.
    public var userInfo: [String: Any] { details.userInfo }

    /// The error in words.
    public var localizedDescription: String { details.localizedDescription }

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
