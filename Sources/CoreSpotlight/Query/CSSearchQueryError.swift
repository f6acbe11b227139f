// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Why a query did not find what it was asked for.
///
/// The description, in `localizedDescription`, says what was attempted, what happened and what to do.
public struct CSSearchQueryError: CustomNSError, Hashable, Sendable {
    /// The kinds of error.
    public enum Code: Int, Hashable, Sendable {
        /// None of the others; the description says what happened.
        case unknown = -2000
        /// The index cannot be reached now; try again later.
        case indexUnreachable = -2001
        /// The query string or a filter cannot be read; the description says where, and what was expected there.
        case invalidQuery = -2002
        /// The query was cancelled.
        case cancelled = -2003

        /// Lets `catch CSSearchQueryError.cancelled` match.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? CSSearchQueryError)?.code == code }
    }

    /// What kind of error it is.
    public let code: Code
    private let details: NSError

    /// An error of this kind, with a user info as `NSError` has.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        self.code = code
        details = NSError(domain: CSSearchQueryErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    init(_ code: Code, _ description: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: description])
    }

    /// `CSSearchQueryErrorDomain`.
    public static var errorDomain: String { CSSearchQueryErrorDomain }

    /// The raw value of the code.
    public var errorCode: Int { code.rawValue }

    /// More about the error, as `NSError` has it.
    public var errorUserInfo: [String: Any] { details.userInfo }

    /// More about the error, as `NSError` has it.
    public var userInfo: [String: Any] { details.userInfo }

    /// The error in words.
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
