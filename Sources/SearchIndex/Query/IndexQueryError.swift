// SPDX-License-Identifier: Apache-2.0

/// The reason why a metadata query failed.
public enum IndexQueryError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The task was cancelled, and the work has stopped.
    case cancelled
    /// The query exceeds a limit. A parsed query within the standard limits never does.
    case tooComplex(what: String, value: Int, limit: Int)
    /// The index could not be read.
    case index(SearchIndexError)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .cancelled: "The query was cancelled."
        case .tooComplex(let what, let value, let limit):
            "The query has \(value) \(what); the limit is \(limit). Shorten it."
        case .index(let error): error.description
        }
    }
}
