// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A query error.
///
/// The `localizedDescription` states the attempted operation, the failure and the remedy.
public struct CSSearchQueryError: CustomNSError, Hashable, Sendable {
    /// The kinds of error.
    public enum Code: Int, Hashable, Sendable {
        /// Any other error; the description contains the details.
        case unknown = -2000
        /// The index cannot be reached at the moment. Try again later.
        case indexUnreachable = -2001
        /// The query string or a filter is invalid. The description contains the position and the
        /// expected input.
        case invalidQuery = -2002
        /// The query was cancelled.
        case cancelled = -2003

        /// Matches a code in `catch CSSearchQueryError.cancelled`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? CSSearchQueryError)?.code == code }
    }

    /// The error code.
    public let code: Code
    private let details: NSError

    /// Creates an error with a code and a user info dictionary, as in `NSError`.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        details = NSError(domain: CSSearchQueryErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    init(_ code: Code, _ description: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: description])
    }

    /// The error domain, `CSSearchQueryErrorDomain`.
    public static var errorDomain: String { CSSearchQueryErrorDomain }

    /// The raw value of the code.
    public var errorCode: Int { code.rawValue }

    /// The user info dictionary, as in `NSError`.
    public var errorUserInfo: [String: Any] { details.userInfo }

    /// The user info dictionary, as in `NSError`.
    public var userInfo: [String: Any] { details.userInfo }

    /// The description of the error.
    public var localizedDescription: String { details.localizedDescription }

    /// ``Code/unknown``
    public static var unknown: Code { .unknown }
    /// ``Code/indexUnreachable``
    public static var indexUnreachable: Code { .indexUnreachable }
    /// ``Code/invalidQuery``
    public static var invalidQuery: Code { .invalidQuery }
    /// ``Code/cancelled``
    public static var cancelled: Code { .cancelled }
}
