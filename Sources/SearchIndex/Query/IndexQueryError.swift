// SPDX-License-Identifier: Apache-2.0

/// Why a metadata query got no answer.
public enum IndexQueryError: Error, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The task was cancelled; the work has stopped.
    case cancelled
    /// The query is larger than what is accepted; parsed queries within the standard limits never are.
    case tooComplex(what: String, value: Int, limit: Int)
    /// The index could not be read.
    case index(SearchIndexError)

    /// The error in one sentence.
    public var description: String {
        switch self {
        case .cancelled: "The query was cancelled."
        case .tooComplex(let what, let value, let limit):
            "The query has \(value) \(what), and the limit is \(limit). Shorten it."
        case .index(let error): error.description
        }
    }
}
