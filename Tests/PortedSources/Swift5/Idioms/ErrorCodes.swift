// SPDX-License-Identifier: Apache-2.0
import CoreSpotlight

func explanation(of error: Error) -> String {
    switch error {
    case CSIndexError.quotaExceeded: return "full"
    case let error as CSIndexError where error.code == .indexUnavailableError: return "away"
    case let error as CSSearchQueryError: return error.code == .invalidQuery ? "odd" : "\(error.errorCode)"
    default: return (error as NSError).domain == CSIndexErrorDomain ? "index" : error.localizedDescription
    }
}
