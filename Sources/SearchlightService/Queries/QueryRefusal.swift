// SPDX-License-Identifier: Apache-2.0
import BusTransport
import MetadataQuery
import SearchIndex
import SearchlightEngine
import ServiceMessages
import UserSearch

/// The error of a rejected query: its D-Bus name and a sentence.
struct QueryRefusal: Error, Hashable {
    var name: String
    var message: String

    /// A cursor that belongs to another query or is malformed.
    static let cursor = QueryRefusal(
        name: ServiceErrorName.invalidQuery,
        message: "The cursor does not belong to this query. Start with the first page.")

    static func syntax(_ error: QuerySyntaxError) -> QueryRefusal {
        QueryRefusal(name: ServiceErrorName.invalidQuery, message: error.description)
    }

    static func limit(_ what: String, _ value: Int, _ limit: Int) -> QueryRefusal {
        QueryRefusal(
            name: BusErrorName.limitsExceeded,
            message: "The query has \(value) \(what); the limit is \(limit). Request less.")
    }

    static func kind(_ kind: String, of known: [EngagementKind]) -> QueryRefusal {
        QueryRefusal(
            name: BusErrorName.invalidArguments,
            message: """
                \(kind.prefix(40).debugDescription) is not a kind of use. Use one of: \
                \(known.map(\.rawValue).joined(separator: ", ")).
                """)
    }

    static let cancelled = QueryRefusal(
        name: ExtensionStatus.cancelled.errorName, message: "The query was cancelled.")

    init(name: String, message: String) {
        self.name = name
        self.message = message
    }

    /// Creates the error that a client receives for an engine error.
    init(_ error: EngineError) {
        switch error {
        case .query(.cancelled): self = .cancelled
        case .query(.tooComplex):
            self.init(name: ServiceErrorName.invalidQuery, message: error.description)
        case .index(.closed): self.init(name: ExtensionStatus.unavailable.errorName, message: error.description)
        default: self.init(name: BusErrorName.failed, message: error.description)
        }
    }
}
